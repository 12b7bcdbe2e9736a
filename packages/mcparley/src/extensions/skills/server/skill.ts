import { LocalError } from "../../../rpc/errors.ts";
import { digestOf, digestPattern, exactText } from "../digest.ts";
import { checkFrontMatter } from "../front-matter/front-matter.ts";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import { type SkillFrontMatter, skillLimits } from "../skill-entry.ts";
import { isPlainPath } from "../skill-uri.ts";
import { fileType } from "./file-type.ts";

type Content = string | Uint8Array;

/** A file whose content is elsewhere, such as on a disk: what it must be, and how it is read each time. */
export interface StoredFile {
  /** `sha256:` and 64 small hexadecimal digits, of its bytes. */
  digest: string;
  /** Bytes. */
  size: number;
  mimeType?: string;
  read(): Content | Promise<Content>;
}

/** The content of a file, where it is, or a function that makes it anew each time that it is read. */
export type SkillFile = Content | StoredFile | (() => Content | Promise<Content>);

/** A file, made ready. */
export interface PreparedFile {
  readonly source: SkillFile;
  readonly mimeType: string;
  /** Undefined until it was counted; `dynamic` where that cannot be done. */
  sum: { digest: string; size: number } | "dynamic" | undefined;
}

/** A skill: plain data, to be given to `skills` under its path. */
export interface Skill {
  readonly kind: "skill";
  readonly frontmatter: SkillFrontMatter;
  /** By path below its folder. */
  readonly files: ReadonlyMap<string, PreparedFile>;
  readonly scopes?: readonly string[];
}

/**
 * Defines a skill by its files, each under its path in the skill's folder: `SKILL.md` and whatever it refers to.
 *
 * Its name is in the front matter of `SKILL.md`, which must be given as text or bytes. A file that is a function makes
 * the skill dynamic: clients cannot verify it, and many refuse it. Throws `LocalError` `invalid_definition` for what
 * is no skill (agentskills.io/specification) or is beyond 512 files or 16 MiB; a `cause` that is a `FrontMatterError`
 * knows the line.
 */
export function skill(files: Readonly<Record<string, SkillFile>>, options: { scopes?: readonly string[] } = {}): Skill {
  const prepared = new Map(Object.entries(files).map(([path, source]) => [path, prepareFile(path, source)]));
  checkSize(
    [...prepared.values()].map(({ source }) => source),
    "the skill",
  );
  return { kind: "skill", frontmatter: frontMatterOf(files["SKILL.md"]), files: prepared, ...options };
}

/** Throws where files are more, or larger, than clients must take. */
export function checkSize(files: readonly SkillFile[], what: string): void {
  if (files.length > skillLimits.files) {
    throw invalid(`${what} has ${files.length} files; clients take ${skillLimits.files}`);
  }
  const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0);
  if (bytes > skillLimits.bytes) throw invalid(`${what} has ${bytes} bytes; clients take ${skillLimits.bytes}`);
}

/** Reads a file: as text where it is exactly that, else as bytes. */
export async function readFile({ source }: PreparedFile): Promise<Content> {
  const content = await (typeof source === "function" ? source() : isStored(source) ? source.read() : source);
  return typeof content === "string" ? content : (exactText(content) ?? content);
}

/** Counts a file's bytes and computes its digest, unless that was done before. */
export async function countFile(file: PreparedFile): Promise<void> {
  const { source } = file;
  if (file.sum !== undefined || typeof source === "function" || isStored(source)) return;
  const bytes = bytesOf(source);
  file.sum = { digest: await digestOf(bytes), size: bytes.length };
}

function prepareFile(path: string, source: SkillFile): PreparedFile {
  const shown = JSON.stringify(path);
  if (!isPlainPath(path)) throw invalid(`${shown} is no path in its folder`);
  if (typeof source === "function") return { source, mimeType: fileType(path, true), sum: "dynamic" };
  if (typeof source === "string" || source instanceof Uint8Array) {
    return {
      source,
      mimeType: fileType(path, typeof source === "string" || exactText(source) !== undefined),
      sum: undefined,
    };
  }
  if (
    !isStored(source) ||
    !digestPattern.test(source.digest) ||
    !Number.isSafeInteger(source.size) ||
    source.size < 0
  ) {
    throw invalid(`${shown} must be text, bytes, a function, or { digest, size, read }`);
  }
  const { digest, size, mimeType = fileType(path, true) } = source;
  return { source, mimeType, sum: { digest, size } };
}

function frontMatterOf(source: SkillFile | undefined): SkillFrontMatter {
  const text = source instanceof Uint8Array ? exactText(source) : source;
  if (typeof text !== "string") throw invalid("there is no SKILL.md that is text");
  try {
    return checkFrontMatter(readFrontMatter(text));
  } catch (cause) {
    throw new LocalError("invalid_definition", `The skill cannot be offered: SKILL.md, ${(cause as Error).message}`, {
      cause,
    });
  }
}

function isStored(source: unknown): source is StoredFile {
  return typeof source === "object" && source !== null && typeof (source as StoredFile).read === "function";
}

function sizeOf(source: SkillFile): number {
  if (typeof source === "function") return 0;
  return isStored(source) ? source.size : bytesOf(source).length;
}

function bytesOf(content: Content): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

function invalid(reason: string): LocalError {
  return new LocalError("invalid_definition", `The skill cannot be offered: ${reason}.`);
}
