import { LocalError } from "../../../rpc/errors.ts";
import { checkScopes, explainErrors } from "../../../server/checks/check-definition.ts";
import { checkMembers } from "../../../server/checks/known-members.ts";
import { checkFrontMatter, readFrontMatter } from "../front-matter/front-matter.ts";
import {
  type SkillFrontMatter,
  digestOf,
  digestPattern,
  exactText,
  skillLimits,
  isPlainPath,
  quotePath,
} from "../skill-entry.ts";

type Content = string | Uint8Array;

/** A file whose content is stored elsewhere, such as on a disk, and is read for each request. */
export interface StoredFile {
  /** `sha256:` and 64 lowercase hexadecimal digits, of its bytes. */
  digest: string;
  /** Bytes. */
  size: number;
  /** MIME type. Default: derived from the extension of the name. */
  mimeType?: string;
  /** Returns the content. Called for each request. */
  read(): Content | Promise<Content>;
}

/** The content of a file, the place where it is stored, or a function that generates it for each request. */
export type SkillFile = Content | StoredFile | (() => Content | Promise<Content>);

/** A file with its type, its size and its digest. */
export interface PreparedFile {
  readonly source: SkillFile;
  readonly mimeType: string;
  /** Bytes. 0 if the content is generated. */
  readonly size: number;
  /** Undefined until it is calculated; `dynamic` if the content is generated. */
  sum: { digest: string; size: number } | "dynamic" | undefined;
}

/** The definition of a skill, for `skills`. */
export interface Skill {
  readonly kind: "skill";
  /** The metadata at the start of `SKILL.md`. */
  readonly frontmatter: SkillFrontMatter;
  /** By path below its folder. */
  readonly files: ReadonlyMap<string, PreparedFile>;
  /** Scopes that a caller needs. The skill is hidden from other callers. */
  readonly scopes?: readonly string[];
}

/**
 * Defines a skill by its files, each under its path in the skill's folder: `SKILL.md` and the files that it refers to.
 *
 * The name is in the front matter of `SKILL.md`, which must be text or bytes. A file that is a function makes the skill
 * dynamic: clients cannot verify it, and many refuse it. Throws `LocalError` `invalid_definition` if the files do not
 * form a skill (agentskills.io/specification) or exceed 512 files or 16 MiB. If its `cause` is a `FrontMatterError`, that
 * error has the line.
 *
 * @example
 * ```ts
 * import { skill } from "mcparley/skills";
 *
 * const refunds = skill({
 *   "SKILL.md": "---\nname: refunds\ndescription: How to refund an order.\n---\nRead limits.md first.",
 *   "limits.md": "At most 500 EUR without an approval.",
 * });
 * ```
 */
export function skill(files: Readonly<Record<string, SkillFile>>, options: { scopes?: readonly string[] } = {}): Skill {
  explainErrors("skill", () => {
    checkMembers("skill", options, "options");
    checkScopes(options.scopes);
  });
  const preparedFiles = new Map(Object.entries(files).map(([path, source]) => [path, prepareFile(path, source)]));
  checkSize([...preparedFiles.values()], "the skill");
  return { kind: "skill", frontmatter: frontMatterOf(files["SKILL.md"]), files: preparedFiles, ...options };
}

/** Throws if the number or the size of the files exceeds the limits that all clients support. */
export function checkSize(files: readonly PreparedFile[], what: string): void {
  if (files.length > skillLimits.files) {
    throw invalid(`${what} has ${files.length} files; clients support ${skillLimits.files}`);
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > skillLimits.bytes) throw invalid(`${what} has ${bytes} bytes; clients support ${skillLimits.bytes}`);
}

/** Characters from which on a text is sent as bytes if it would be longer in JSON than in base64. */
const largeText = 1_048_576;

/** Reads a file, as text if it is UTF-8, and as bytes otherwise. A large text with many escapes in JSON is read as bytes. */
export async function readFile({ source }: PreparedFile): Promise<Content> {
  const content = await (typeof source === "function" ? source() : isStored(source) ? source.read() : source);
  const text = typeof content === "string" ? content : exactText(content);
  if (text === undefined) return content;
  if (text.length < largeText) return text;
  // Many clients have limits near the size of 16 MiB in base64, which is the largest file of a skill.
  const bytes = bytesOf(content);
  return bytesOf(JSON.stringify(text)).length > (bytes.length * 4) / 3 ? bytes : text;
}

/** Calculates the size and the digest of a file, unless they are known. */
export async function countFile(file: PreparedFile): Promise<void> {
  const { source } = file;
  if (file.sum !== undefined || typeof source === "function" || isStored(source)) return;
  const bytes = bytesOf(source);
  file.sum = { digest: await digestOf(bytes), size: bytes.length };
}

function prepareFile(path: string, source: SkillFile): PreparedFile {
  const name = quotePath(path);
  if (!isPlainPath(path)) throw invalid(`${name} is not a path in its folder`);
  if (typeof source === "function") return { source, mimeType: fileType(path, true), size: 0, sum: "dynamic" };
  if (typeof source === "string" || source instanceof Uint8Array) {
    const isText = typeof source === "string" || exactText(source) !== undefined;
    return { source, mimeType: fileType(path, isText), size: bytesOf(source).length, sum: undefined };
  }
  if (
    !isStored(source) ||
    !digestPattern.test(source.digest) ||
    !Number.isSafeInteger(source.size) ||
    source.size < 0
  ) {
    throw invalid(`${name} must be text, bytes, a function, or { digest, size, read }`);
  }
  const { digest, size, mimeType = fileType(path, true) } = source;
  return { source, mimeType, size, sum: { digest, size } };
}

function frontMatterOf(source: SkillFile | undefined): SkillFrontMatter {
  const text = source instanceof Uint8Array ? exactText(source) : source;
  if (typeof text !== "string") throw invalid("there is no SKILL.md, or it is not text");
  try {
    return checkFrontMatter(readFrontMatter(text));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError("invalid_definition", `The skill cannot be offered: SKILL.md, ${why}`, { cause });
  }
}

function isStored(source: unknown): source is StoredFile {
  return typeof source === "object" && source !== null && "read" in source && typeof source.read === "function";
}

function bytesOf(content: Content): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

function invalid(reason: string): LocalError {
  return new LocalError("invalid_definition", `The skill cannot be offered: ${reason}.`);
}

/** MIME types of the usual files of skills, by the extension of the name. */
const types: Readonly<Record<string, string>> = {
  md: "text/markdown",
  txt: "text/plain",
  html: "text/html",
  css: "text/css",
  csv: "text/csv",
  js: "text/javascript",
  mjs: "text/javascript",
  ts: "text/x-typescript",
  py: "text/x-python",
  sh: "text/x-shellscript",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  xml: "application/xml",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  webp: "image/webp",
};

function fileType(path: string, isText: boolean): string {
  const ending = /\.([a-z\d]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const type = Object.hasOwn(types, ending) ? types[ending] : undefined;
  return type ?? (isText ? "text/plain" : "application/octet-stream");
}
