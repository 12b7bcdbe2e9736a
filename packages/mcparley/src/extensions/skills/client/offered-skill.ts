import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { isSkillName } from "../front-matter/front-matter.ts";
import {
  type SkillEntry,
  type SkillResource,
  digestPattern,
  isInside,
  lastPart,
  pathIn,
  quotePath,
  rootOf,
} from "../skill-entry.ts";

/** A skill that a server offers, checked in its form. None of its files was read yet. */
export interface OfferedSkill extends SkillEntry {
  /** The name that the host has for the server. Together with `uri` it identifies the skill; `uri` alone does not. */
  readonly server: string;
}

/** The limits of one skill. */
export interface SkillLimits {
  /** Maximum number of files of a skill. Default: 512, which every host supports. */
  files: number;
  /** Maximum size of all files of a skill in bytes. Default: 16 MiB, which every host supports. */
  bytes: number;
}

/**
 * The reason why a skill, or a file of it, must not be used.
 *
 * - `unlisted`: the file is not one of the skill's
 * - `size`, `digest`: the file differs from the skill's entry
 * - `frontmatter`: the front matter of `SKILL.md` differs from the skill's entry
 * - `dynamic`: the skill's files have no digests, and such skills were not allowed
 */
export type SkillRefusal = "unlisted" | "size" | "digest" | "frontmatter" | "dynamic";

/** A skill failed its verification. Its content must not reach a model. */
export class SkillRefused extends LocalError {
  override readonly name: string = "SkillRefused";
  /** The check that failed. */
  readonly reason: SkillRefusal;
  /** URI of the skill or of its file. */
  readonly uri: string;

  constructor(reason: SkillRefusal, uri: string, message: string) {
    super("invalid_result", message, { data: { reason, uri } });
    this.reason = reason;
    this.uri = uri;
  }
}

/** Checks an entry that a server sent, before it is used. Throws `invalid_message` or `too_large`. */
export function readEntry(entry: unknown, limits: SkillLimits): SkillEntry {
  if (!isObject(entry)) throw invalid("it is not an object");
  const { uri, frontmatter, resources } = entry;
  const root = typeof uri === "string" ? rootOf(uri) : undefined;
  if (typeof uri !== "string" || root === undefined) throw invalid('its "uri" is not that of a SKILL.md in a folder');
  checkFrontMatter(frontmatter, root);
  if (resources !== "dynamic") checkResources(resources, { manifest: uri, root, limits });
  // The members were checked above.
  return entry as unknown as SkillEntry;
}

function checkFrontMatter(frontmatter: unknown, root: string): void {
  if (!isObject(frontmatter)) throw invalid('its "frontmatter" is not an object');
  const { name, description } = frontmatter;
  if (!isSkillName(name)) throw invalid('its "frontmatter.name" is not a valid skill name');
  if (name !== lastPart(root)) throw invalid(`its name is "${name}", but its folder is "${lastPart(root)}"`);
  if (typeof description !== "string" || description === "") throw invalid('its "frontmatter.description" is not text');
}

function checkResources(
  resources: unknown,
  { manifest, root, limits }: { manifest: string; root: string; limits: SkillLimits },
): void {
  if (!Array.isArray(resources)) throw invalid('its "resources" are neither an array nor "dynamic"');
  if (resources.length > limits.files) {
    throw tooLarge(
      `it has ${resources.length} files; the limit is ${limits.files}, which limits.files of skillsOf raises`,
    );
  }
  const paths = new Set<string>();
  let bytes = 0;
  let listsManifest = false;
  for (const resource of resources) {
    const { uri, size } = checkResource(resource, root);
    listsManifest ||= uri === manifest;
    const path = pathIn(root, uri);
    if (paths.has(path)) throw invalid(`it lists ${quotePath(path)} twice`);
    paths.add(path);
    bytes += size;
  }
  if (!listsManifest) throw invalid("it does not list its own SKILL.md");
  if (bytes > limits.bytes)
    throw tooLarge(`it has ${bytes} bytes; the limit is ${limits.bytes}, which limits.bytes of skillsOf raises`);
}

function checkResource(resource: unknown, root: string): SkillResource {
  const { uri, digest, size }: JsonObject = isObject(resource) ? resource : {};
  const name = uri === undefined ? "a file without a URI" : quotePath(uri);
  if (typeof uri !== "string" || !isInside(root, uri)) throw invalid(`it lists ${name}, which is not in its folder`);
  if (typeof digest !== "string" || !digestPattern.test(digest)) throw invalid(`the digest of ${name} is invalid`);
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    throw invalid(`the size of ${name} is invalid`);
  }
  return { uri, digest, size };
}

function invalid(reason: string): LocalError {
  return new LocalError("invalid_message", `The skill is invalid: ${reason}.`);
}

function tooLarge(reason: string): LocalError {
  return new LocalError("too_large", `The skill is too large: ${reason}.`);
}
