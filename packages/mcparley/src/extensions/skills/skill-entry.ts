import { sha256 } from "../../rpc/digest.ts";
import { decodePercent } from "../../schema/percent-encoding.ts";
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

/** Maximum UTF-16 units of the URI or path of a file. Paths of file systems have at most 4,096 bytes, which encoding makes three times as long. */
const maxPath = 12_288;

/** Returns the URI of a skill's folder, or undefined if the URI is not that of a `SKILL.md` in a folder. */
export function rootOf(uri: string): string | undefined {
  if (uri.length > maxPath) return undefined;
  const match = /^[a-z][a-z\d+.-]*:\/\/[^?#\s]*[^/?#\s]\/SKILL\.md$/i.exec(uri);
  if (!match) return undefined;
  const root = uri.slice(0, -skillFile.length - 1);
  return partsOf(root).every(isPlain) ? root : undefined;
}

/** Returns the last part of the URI of a folder, decoded: the name of its skill. */
export function lastPart(root: string): string {
  return decodePercent(partsOf(root).at(-1)!) ?? "";
}

/** Returns whether a URI names a file in a folder. A part that leaves the folder when it is decoded is refused. */
export function isInside(root: string, uri: string): boolean {
  return (
    uri.length <= maxPath &&
    uri.startsWith(`${root}/`) &&
    uri
      .slice(root.length + 1)
      .split("/")
      .every(isPlain)
  );
}

/** Returns the path of a URI in a folder, decoded, so that it does not depend on the percent-encoding. */
export function pathIn(root: string, uri: string): string {
  return decodeURIComponent(uri.slice(root.length + 1));
}

/** Returns the URI of a plain path, in a folder or among all skills. */
export function uriOf(path: string, root: string = "skill:/"): string {
  return `${root}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns the path of a URI that `uriOf` returns, among all skills. Undefined for any other URI. */
export function pathOf(uri: string): string | undefined {
  const path = uri.startsWith("skill://") ? decodePercent(uri.slice("skill://".length)) : undefined;
  return path !== undefined && isPlainPath(path) && uriOf(path) === uri ? path : undefined;
}

/** Backslashes, and characters that are invisible or change the direction of text, so that a name can look like another. */
const unfit = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}\uFEFF\\]/u;

/** Returns whether a path, with `/` between its parts, stays in its folder and has no characters that can mislead a reader. */
export function isPlainPath(path: string): boolean {
  return (
    path.length <= maxPath &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !unfit.test(part))
  );
}

/** Returns a path or URI for an error message: quoted, at most 200 characters, with the unfit characters escaped. */
export function quotePath(text: unknown): string {
  const json = JSON.stringify(typeof text === "string" ? text.slice(0, 200) : text) ?? typeof text;
  return json.replaceAll(new RegExp(unfit, "gu"), (character) =>
    character === "\\" ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

function partsOf(root: string): string[] {
  return root.slice(root.indexOf("://") + 3).split("/");
}

function isPlain(part: string): boolean {
  const text = decodePercent(part);
  return text !== undefined && !/[?#]/.test(part) && !text.includes("/") && isPlainPath(text);
}
