import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { digestPattern } from "../digest.ts";
import { isSkillName } from "../front-matter/front-matter.ts";
import type { SkillEntry, SkillResource } from "../skill-entry.ts";
import { isInside, lastPart, pathIn, rootOf } from "../skill-uri.ts";

/** What is taken of one skill. */
export interface SkillLimits {
  /** Files of a skill. 512, which is what every host takes. */
  files: number;
  /** Bytes of all files of a skill. 16 MiB, which is what every host takes. */
  bytes: number;
}

/** Checks an entry that a server sent, before anything is done with it. Throws `invalid_message` or `too_large`. */
export function readEntry(entry: unknown, limits: SkillLimits): SkillEntry {
  if (!isObject(entry)) throw invalid("it is not an object");
  const { uri, frontmatter, resources } = entry;
  const root = typeof uri === "string" ? rootOf(uri) : undefined;
  if (typeof uri !== "string" || root === undefined) throw invalid('its "uri" is not that of a SKILL.md in a folder');
  checkFrontMatter(frontmatter, root);
  if (resources !== "dynamic") checkResources(resources, { uri, root, limits });
  return entry as unknown as SkillEntry;
}

function checkFrontMatter(frontmatter: unknown, root: string): void {
  if (!isObject(frontmatter)) throw invalid('its "frontmatter" is not an object');
  const { name, description } = frontmatter;
  if (!isSkillName(name)) throw invalid('its "frontmatter.name" cannot be the name of a skill');
  if (name !== lastPart(root)) throw invalid(`its name is "${name}", and that of its folder "${lastPart(root)}"`);
  if (typeof description !== "string" || description === "") throw invalid('its "frontmatter.description" is no text');
}

function checkResources(
  resources: unknown,
  { uri, root, limits }: { uri: string; root: string; limits: SkillLimits },
): void {
  if (!Array.isArray(resources)) throw invalid('its "resources" are neither an array nor "dynamic"');
  if (resources.length > limits.files) {
    throw tooLarge(`it has ${resources.length} files, and ${limits.files} are taken`);
  }
  const paths = new Set<string>();
  let bytes = 0;
  for (const resource of resources as unknown[]) {
    const { uri, size } = checkResource(resource, root);
    const path = pathIn(root, uri);
    if (paths.has(path)) throw invalid(`it lists ${JSON.stringify(path)} twice`);
    paths.add(path);
    bytes += size;
  }
  if (!(resources as SkillResource[]).some((resource) => resource.uri === uri)) {
    throw invalid("it does not list its own SKILL.md");
  }
  if (bytes > limits.bytes) throw tooLarge(`it has ${bytes} bytes, and ${limits.bytes} are taken`);
}

function checkResource(resource: unknown, root: string): SkillResource {
  const { uri, digest, size } = isObject(resource) ? resource : ({} as JsonObject);
  const shown = JSON.stringify(uri)?.slice(0, 200) ?? "a file without a URI";
  if (typeof uri !== "string" || !isInside(root, uri)) throw invalid(`it lists ${shown}, which is not in its folder`);
  if (typeof digest !== "string" || !digestPattern.test(digest)) throw invalid(`the digest of ${shown} is none`);
  if (!Number.isSafeInteger(size) || (size as number) < 0) throw invalid(`the size of ${shown} is none`);
  return { uri, digest, size: size as number };
}

function invalid(reason: string): LocalError {
  return new LocalError("invalid_message", `The skill cannot be taken: ${reason}.`);
}

function tooLarge(reason: string): LocalError {
  return new LocalError("too_large", `The skill cannot be taken: ${reason}.`);
}
