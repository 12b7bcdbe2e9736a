import type { JsonObject } from "../../rpc/messages.ts";

/** The identifier of the extension (SEP-2640). */
export const skillsId = "io.modelcontextprotocol/skills";

/** The file that makes a folder a skill. */
export const skillFile = "SKILL.md";

export const SkillMethod = {
  list: "skills/list",
  get: "skills/get",
  readDirectory: "resources/directory/read",
} as const;

/** The type of resources that are folders. */
export const directoryType = "inode/directory";

/** What every host takes of one skill, and no server should go beyond (Skill Entries, Limits). */
export const skillLimits: { readonly files: number; readonly bytes: number } = { files: 512, bytes: 16 * 1024 * 1024 };

/** One file of a skill, and what it must be. */
export interface SkillResource {
  uri: string;
  /** `sha256:` and 64 hexadecimal digits, of the file's bytes. */
  digest: string;
  /** Bytes. */
  size: number;
}

/** The front matter of a `SKILL.md`, as JSON: all that its author wrote. */
export interface SkillFrontMatter extends JsonObject {
  name: string;
  description: string;
}

/** A skill as `skills/list` and `skills/get` say it: the manifest of all its files. */
export interface SkillEntry {
  /** The URI of its `SKILL.md`. */
  uri: string;
  frontmatter: SkillFrontMatter;
  /** `dynamic` where files are made when they are read, so that nothing can be said of them before. */
  resources: SkillResource[] | "dynamic";
  _meta?: JsonObject;
}
