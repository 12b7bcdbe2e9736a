import mime from "mime";

/** Endings that mean source text here, though the registry knows them as something else or not at all. */
const own = new Map([
  ["ts", "text/x-typescript"],
  ["mts", "text/x-typescript"],
  ["cts", "text/x-typescript"],
  ["tsx", "text/x-typescript"],
  ["liquid", "text/x-liquid"],
]);

/** The MIME type of a file by its name; by whether it is text where the name does not tell. */
export function mimeTypeOf(name: string, isText: () => boolean): string {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return own.get(ending) ?? mime.getType(name) ?? (isText() ? "text/plain" : "application/octet-stream");
}

/**
 * Whether bytes look like text: no NUL, and UTF-8 throughout.
 *
 * They may be the beginning of a file: a character that is cut off at the end is no fault.
 */
export function looksLikeText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Decodes a whole file, or gives undefined where it is not UTF-8. A byte order mark is left out. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
