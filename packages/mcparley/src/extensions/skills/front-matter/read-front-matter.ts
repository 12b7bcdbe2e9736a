import type { JsonObject } from "../../../rpc/messages.ts";
import { FrontMatterError } from "./front-matter-error.ts";
import { readMapping } from "./yaml-block.ts";
import { peek, toLines } from "./yaml-lines.ts";

/** The parsed head of a `SKILL.md` file. */
export interface FrontMatter {
  /** What the YAML says, as JSON. */
  readonly frontmatter: JsonObject;
  /** The text after it. */
  readonly body: string;
  /** The line on which each key of the outermost mapping stands. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Characters that the YAML of a skill may have. */
const maxLength = 65_536;

/**
 * Reads the YAML between the first two `---` lines of a `SKILL.md`.
 *
 * It takes the YAML on whose meaning readers agree: mappings, lists, texts in all forms, numbers, comments. Anchors,
 * tags, tabs, and quotes or brackets over several lines are refused rather than read differently from a reader that
 * knows them, since a client must compare what it read with what the server did. Takes linear time. Throws
 * `FrontMatterError`.
 */
export function readFrontMatter(markdown: string): FrontMatter {
  const text = markdown.startsWith("\uFEFF") ? markdown.slice(1) : markdown;
  const { yaml, body } = split(text.replaceAll("\r\n", "\n"));
  const cursor = { lines: toLines(yaml, 2), at: 0 };
  const lines = new Map<string, number>();
  const frontmatter = readMapping(cursor, { indent: 0, depth: 0, onKey: (key, no) => lines.set(key, no) });
  const left = peek(cursor);
  if (left) throw new FrontMatterError("the front matter must be a mapping of keys to values", left.no);
  return { frontmatter, body, lines };
}

function split(text: string): { yaml: string; body: string } {
  const begin = /^--- *\n/.exec(text)?.[0].length;
  if (begin === undefined) {
    throw new FrontMatterError("there is no front matter", 1, "Begin the file with a line ---, and YAML below it.");
  }
  let at = begin;
  while (at - begin <= maxLength) {
    const end = text.indexOf("\n", at);
    const line = end === -1 ? text.slice(at) : text.slice(at, end);
    if (/^---[ \t]*$/.test(line)) return { yaml: text.slice(begin, at), body: end === -1 ? "" : text.slice(end + 1) };
    if (end === -1) throw new FrontMatterError("the front matter is never closed", 1, "End it with a line ---.");
    at = end + 1;
  }
  throw new FrontMatterError(`the front matter is longer than ${maxLength} characters`, 1);
}
