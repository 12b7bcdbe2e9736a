/** Text with fewer characters is parsed directly. */
const LARGE_CHARS = 1_048_576;
/** Maximum characters beside a large string. They are parsed slowly. */
const REST_CHARS = 65_536;

/** Characters that a JSON string can contain only as escapes, and the start of an escape. */
// oxlint-disable-next-line no-control-regex -- JSON does not allow control characters
const escapes = /[\\\u0000-\u001f]/;

/** Returns a text without the byte order mark at its start, which some programs write before JSON (RFC 8259, 8.1). */
export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/**
 * Parses JSON like `JSON.parse`, and ignores a byte order mark. If the text is large and consists mostly of one string without escapes, such as base64, this
 * string is not copied: it shares the memory of the text.
 */
export function parseJson(source: string): unknown {
  const text = withoutByteOrderMark(source);
  const range = text.length < LARGE_CHARS ? undefined : findLargeString(text);
  if (!range) return JSON.parse(text);
  const { start, end } = range;
  // The peer cannot know it, so no other string is equal to it.
  const mark = String(Math.random());
  const large = text.slice(start, end);
  let isReplaced = false;
  try {
    const value: unknown = JSON.parse(text.slice(0, start) + mark + text.slice(end), (_key, member: unknown) => {
      if (member !== mark) return member;
      isReplaced = true;
      return large;
    });
    // Otherwise the string is the name of a member.
    if (isReplaced) return value;
  } catch {
    // The text between the quotes is no string, or the text is not JSON.
  }
  return JSON.parse(text);
}

/** Returns the start and end of the text between two quotes that fills the text except for a few characters. */
function findLargeString(text: string): { start: number; end: number } | undefined {
  const start = text.slice(0, REST_CHARS).lastIndexOf('"') + 1;
  const end = text.indexOf('"', start);
  if (start < 2 || end === -1 || text.length - (end - start) > REST_CHARS || text[start - 2] === "\\") return undefined;
  return escapes.test(text.slice(start, end)) ? undefined : { start, end };
}
