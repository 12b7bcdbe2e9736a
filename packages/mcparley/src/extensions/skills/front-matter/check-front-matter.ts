import { isObject } from "../../../rpc/messages.ts";
import type { SkillFrontMatter } from "../skill-entry.ts";
import { FrontMatterError } from "./front-matter-error.ts";
import type { FrontMatter } from "./read-front-matter.ts";

const namePattern = /^[a-z\d]+(?:-[a-z\d]+)*$/;

/** Whether a text can be the name of a skill (Agent Skills, `name`). */
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
    const cure = "Use 1 to 64 small letters and digits, with single hyphens between them.";
    throw wrong("name", `${JSON.stringify(name)} cannot name a skill`, cure);
  }
  if (description === undefined) {
    throw wrong("description", "there is no description", "Write `description:` and what the skill is for, and when.");
  }
  if (!isText(description, 1024)) throw wrong("description", "the description must be a text of 1 to 1024 characters");
  if (compatibility !== undefined && !isText(compatibility, 500)) {
    throw wrong("compatibility", '"compatibility" must be a text of 1 to 500 characters');
  }
  if (metadata !== undefined) {
    const key = isObject(metadata) ? Object.keys(metadata).find((key) => typeof metadata[key] !== "string") : "";
    const what = key ? `metadata.${key}` : "metadata";
    if (key !== undefined) throw wrong("metadata", `"${what}" must be ${key ? "a text" : "a mapping"}`, quotes);
  }
  return frontmatter as SkillFrontMatter;
}

const quotes = "Write each entry as a key and a text, numbers in quotes.";

function isText(value: unknown, most: number): boolean {
  return typeof value === "string" && value !== "" && Array.from(value).length <= most;
}
