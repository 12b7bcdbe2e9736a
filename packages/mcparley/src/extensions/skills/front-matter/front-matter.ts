import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import type { SkillFrontMatter } from "../skill-entry.ts";
import { FrontMatterError, readYaml } from "./yaml.ts";

/** The front matter of a `SKILL.md`, and the text after it. */
export interface FrontMatter {
  /** The value of the YAML, as JSON. */
  readonly frontmatter: JsonObject;
  /** The text after it. */
  readonly body: string;
  /** The line of each key of the outermost mapping. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Maximum number of characters in the YAML of a skill. */
const maxLength = 65_536;

/**
 * Reads the YAML between the first two `---` lines of a `SKILL.md`.
 *
 * Supports the YAML on whose meaning all readers agree: mappings, lists, text in all forms, numbers, comments. Anchors,
 * tags, tabs, and quotes or brackets over several lines are refused, because a client must compare the values that it
 * read with those that the server read. Takes linear time. Throws `FrontMatterError`.
 *
 * @example
 * ```ts
 * import { readFrontMatter } from "mcparley/skills";
 *
 * const { frontmatter, body } = readFrontMatter("---\nname: refunds\n---\nAsk first.");
 * console.log(frontmatter.name, body); // refunds Ask first.
 * ```
 */
export function readFrontMatter(markdown: string): FrontMatter {
  const text = markdown.startsWith("\uFEFF") ? markdown.slice(1) : markdown;
  const { yaml, body } = splitFrontMatter(text);
  const { value, lines } = readYaml(withLineFeeds(yaml), 2);
  return { frontmatter: value, body: withLineFeeds(body), lines };
}

/** Replaces CR LF by LF. For millions of them `replaceAll` takes four times as long. */
function withLineFeeds(text: string): string {
  return text.split("\r\n").join("\n");
}

function splitFrontMatter(text: string): { yaml: string; body: string } {
  const begin = /^--- *\r?\n/.exec(text)?.[0].length;
  if (begin === undefined) {
    throw new FrontMatterError("there is no front matter", 1, "Start the file with a line ---, and YAML below it.");
  }
  let position = begin;
  while (position - begin <= maxLength) {
    const end = text.indexOf("\n", position);
    const line = end === -1 ? text.slice(position) : text.slice(position, end);
    if (/^---[ \t]*\r?$/.test(line))
      return { yaml: text.slice(begin, position), body: end === -1 ? "" : text.slice(end + 1) };
    if (end === -1) throw new FrontMatterError("the front matter is never closed", 1, "End it with a line ---.");
    position = end + 1;
  }
  throw new FrontMatterError(`the front matter is longer than ${maxLength} characters`, 1);
}

const namePattern = /^[a-z\d]+(?:-[a-z\d]+)*$/;

/** Returns whether a value can be the name of a skill (Agent Skills, `name`). */
export function isSkillName(name: unknown): name is string {
  return typeof name === "string" && name.length <= 64 && namePattern.test(name);
}

/** Checks the fields that the Agent Skills specification defines. Throws `FrontMatterError` with the line of the field. */
export function checkFrontMatter({ frontmatter, lines }: FrontMatter): SkillFrontMatter {
  const { name, description, compatibility, metadata } = frontmatter;
  const wrong = (key: string, reason: string, cure = ""): FrontMatterError =>
    new FrontMatterError(reason, lines.get(key) ?? 1, cure);
  if (name === undefined) throw wrong("name", "there is no name", "Write `name:` and the name of the folder.");
  if (!isSkillName(name)) {
    const cure = "Use 1 to 64 lowercase letters and digits, with single hyphens between them.";
    throw wrong("name", `${JSON.stringify(name)} is not a valid skill name`, cure);
  }
  if (description === undefined) {
    const cure = "Write `description:`, what the skill does, and when to use it.";
    throw wrong("description", "there is no description", cure);
  }
  if (!isText(description, 1024)) throw wrong("description", "the description must be a text of 1 to 1024 characters");
  if (compatibility !== undefined && !isText(compatibility, 500)) {
    throw wrong("compatibility", '"compatibility" must be a text of 1 to 500 characters');
  }
  const cure = "Write each entry as a key and a text, and put numbers in quotes.";
  if (metadata !== undefined && !isObject(metadata)) throw wrong("metadata", '"metadata" must be a mapping', cure);
  const key = Object.keys(metadata ?? {}).find((key) => typeof metadata?.[key] !== "string");
  if (key !== undefined) throw wrong("metadata", `"metadata.${key}" must be a text`, cure);
  return frontmatter as SkillFrontMatter;
}

function isText(value: unknown, most: number): boolean {
  return typeof value === "string" && value !== "" && Array.from(value).length <= most;
}
