import { sha256 } from "../../rpc/digest.ts";
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

/** The limits of one skill that every host supports (Skill Entries, Limits). */
export const skillLimits: { readonly files: number; readonly bytes: number } = { files: 512, bytes: 16 * 1024 * 1024 };

/** One file of a skill, with its digest and size. */
export interface SkillResource {
  /** URI of the file. */
  uri: string;
  /** `sha256:` and 64 hexadecimal digits, of the file's bytes. */
  digest: string;
  /** Bytes. */
  size: number;
}

/** The front matter of a `SKILL.md`, as JSON, with all its fields. */
export interface SkillFrontMatter extends JsonObject {
  /** Name of the skill: lower-case letters, digits and hyphens. */
  name: string;
  /** Purpose of the skill and when to use it, for the model. */
  description: string;
}

/** A skill in the results of `skills/list` and `skills/get`: the manifest of all its files. */
export interface SkillEntry {
  /** The URI of its `SKILL.md`. */
  uri: string;
  /** The metadata at the start of `SKILL.md`. */
  frontmatter: SkillFrontMatter;
  /** `dynamic` if files are generated when they are read, so that they have no digest. */
  resources: SkillResource[] | "dynamic";
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

export const digestPattern: RegExp = /^sha256:[\da-f]{64}$/;

/** Returns the digest of bytes, in the form of a skill's manifest. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = await sha256(bytes);
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the bytes as text, if encoding that text as UTF-8 returns the same bytes, including a byte order mark. */
export function exactText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
