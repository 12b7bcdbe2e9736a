import type { CallOptions } from "../../../client/core.ts";
import type { Client } from "../../../client/client.ts";
import type { RequestOptions } from "../../../client/options.ts";
import type { ResourceContents } from "../../../mcp/content.ts";
import { fromBase64 } from "../../../rpc/base64.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { isObject } from "../../../rpc/messages.ts";
import { decodePercent } from "../../../schema/percent-encoding.ts";
import { type FrontMatter, readFrontMatter } from "../front-matter/front-matter.ts";
import { FrontMatterError } from "../front-matter/yaml.ts";
import {
  type SkillFrontMatter,
  type SkillResource,
  digestOf,
  exactText,
  skillFile,
  isPlainPath,
  pathIn,
  quotePath,
  rootOf,
  uriOf,
} from "../skill-entry.ts";
import { type OfferedSkill, SkillRefused } from "./offered-skill.ts";

/** Maximum size of the reply with a small file in bytes. */
const defaultReplySize = 25_165_824;

/** A file of a skill, read and verified. */
export interface SkillContent {
  /** URI of the file. */
  readonly uri: string;
  /** MIME type, if the server stated it. */
  readonly mimeType?: string;
  /** Undefined if the bytes are not UTF-8. */
  readonly text: string | undefined;
  /** The content. Its digest was verified. */
  readonly bytes: Uint8Array;
  /** Whether size and digest were checked. False only for files of dynamic skills. */
  readonly isVerified: boolean;
}

/** The parameters for reading the files of a skill. */
interface SkillReading {
  readonly client: Client;
  readonly skill: OfferedSkill;
  /** Maximum size of all files of a dynamic skill in bytes. */
  readonly bytes: number;
}

/** A skill that was approved and whose `SKILL.md` was verified. */
export class LoadedSkill {
  /** The entry that it was loaded from. Its files are verified with this entry, even if the server changes it later. */
  readonly skill: OfferedSkill;
  /** The whole `SKILL.md`. It is untrusted text of a server: show its origin to the model. */
  readonly text: string;
  /** The text after the front matter. */
  readonly body: string;
  readonly #reading: SkillReading;
  readonly #read = new Map<string, Promise<SkillContent>>();
  #bytes = 0;

  constructor(reading: SkillReading, file: SkillContent, { body }: FrontMatter) {
    this.#reading = reading;
    this.skill = reading.skill;
    this.text = file.text ?? "";
    this.body = body;
    this.#bytes = file.bytes.length;
    this.#read.set(file.uri, Promise.resolve(file));
  }

  /** The host's name for the server that it comes from. */
  get server(): string {
    return this.skill.server;
  }

  /** The fields of its front matter. Fields such as `allowed-tools` are requests: the user decides whether to grant them. */
  get frontmatter(): SkillFrontMatter {
    return this.skill.frontmatter;
  }

  /** The paths of its files, including `SKILL.md`. Undefined if the skill is dynamic. */
  get files(): string[] | undefined {
    const { resources, uri } = this.skill;
    return resources === "dynamic" ? undefined : resources.map((one) => pathIn(rootOf(uri)!, one.uri));
  }

  /**
   * Reads a file by its path in the skill's folder, as `SKILL.md` refers to it, or by its URI. Each file is read once.
   *
   * Throws `SkillRefused` for a file that is not one of the skill's, such as one of another server, and for a file whose
   * content differs from the entry. Throws `too_large` if the files of a dynamic skill exceed the limit.
   */
  async read(file: string, options: RequestOptions = {}): Promise<SkillContent> {
    const target = targetOf(this.skill, file);
    const reading = this.#read.get(target.uri) ?? this.#fetch(target, options);
    this.#read.set(target.uri, reading);
    try {
      const content = await reading;
      return { ...content, bytes: content.bytes.slice() };
    } catch (error) {
      this.#read.delete(target.uri);
      throw error;
    }
  }

  async #fetch(target: Target, options: RequestOptions): Promise<SkillContent> {
    const { client, bytes } = this.#reading;
    const content = await readFile({ client, bytes: bytes - this.#bytes }, target, options);
    if (target.resource) return content;
    if (this.#bytes + content.bytes.length > bytes) {
      throw new LocalError(
        "too_large",
        `The skill ${this.skill.uri} has more than ${bytes} bytes. Raise limits.bytes of skillsOf.`,
      );
    }
    this.#bytes += content.bytes.length;
    return content;
  }
}

/** Reads and verifies the `SKILL.md` of an approved skill. */
export async function loadSkill(reading: SkillReading, options: RequestOptions): Promise<LoadedSkill> {
  const { skill, bytes } = reading;
  const file = await readFile(reading, targetOf(skill, skillFile), options);
  if (file.bytes.length > bytes)
    throw new LocalError("too_large", `${skill.uri} has more than ${bytes} bytes. Raise limits.bytes of skillsOf.`);
  return new LoadedSkill(reading, file, verifiedFrontMatter(skill, file));
}

/** Compares the front matter of the file with the entry that the user approved (Frontmatter Verification). */
function verifiedFrontMatter({ uri, frontmatter }: OfferedSkill, { text }: SkillContent): FrontMatter {
  if (text === undefined) throw new SkillRefused("frontmatter", uri, `${uri} is not text.`);
  try {
    const read = readFrontMatter(text);
    const differs = difference(frontmatter, read.frontmatter);
    if (differs === undefined) return read;
    throw new SkillRefused("frontmatter", uri, `The ${differs} of ${uri} differs from the skill's entry.`);
  } catch (error) {
    if (!(error instanceof FrontMatterError)) throw error;
    throw new SkillRefused("frontmatter", uri, `The front matter of ${uri} cannot be compared: ${error.message}`);
  }
}

interface Target {
  readonly uri: string;
  /** Undefined for dynamic skills. */
  readonly resource: SkillResource | undefined;
}

/** Returns the file that a reference means. Refuses files that are not the skill's before a request is sent. */
function targetOf({ uri: skillUri, resources, server }: OfferedSkill, file: string): Target {
  const root = rootOf(skillUri)!;
  const paths = pathsOf(root, file);
  if (resources === "dynamic") {
    if (paths[0] !== undefined) return { uri: uriOf(paths[0], root), resource: undefined };
  } else {
    const byPath = new Map(resources.map((resource) => [pathIn(root, resource.uri), resource]));
    // A listed path has precedence, because `#`, `%` and `:` are allowed in the names of files.
    for (const path of [file, ...paths]) {
      const resource = byPath.get(path);
      if (resource) return { uri: resource.uri, resource };
    }
  }
  const name = quotePath(file);
  throw new SkillRefused("unlisted", file, `${name} is not a file of the skill ${skillUri} of ${server}.`);
}

/**
 * Returns the paths in the skill's folder that a reference may mean: as written, and percent-decoded. A fragment is
 * removed. A reference with a scheme must be a URI in the folder.
 */
function pathsOf(root: string, file: string): string[] {
  const [reference = ""] = file.split("#", 1);
  const isUri = /^[a-z][a-z\d+.-]*:/i.test(reference);
  if (isUri && !reference.startsWith(`${root}/`)) return [];
  const path = isUri ? reference.slice(root.length + 1) : reference.replace(/^(?:\.\/)+/, "");
  const decodedPath = decodePercent(path);
  return [...(isUri ? [] : [path]), ...(decodedPath === undefined ? [] : [decodedPath])].filter(isPlainPath);
}

/**
 * Reads one file and verifies it with the entry (Verification on Read). Bypasses the client's cache, because a cached
 * result may be older than the entry.
 */
async function readFile(
  { client, bytes: maxBytes }: Pick<SkillReading, "client" | "bytes">,
  { uri, resource }: Target,
  options: RequestOptions,
): Promise<SkillContent> {
  // JSON may use six characters for one byte, as in `\u0000`. The rest is for the URI, the type and the metadata.
  const maxReply = Math.max(defaultReplySize, 6 * (resource?.size ?? maxBytes) + 65_536);
  const request: CallOptions = { ...options, fresh: true, maxReply };
  const { contents } = await client.readResource(uri, request);
  const [content, ...extraContents] = contents;
  if (!isObject(content) || extraContents.length > 0 || content.uri !== uri) {
    throw new LocalError(
      "invalid_message",
      `Reading ${uri} returned ${contents.length} contents instead of one with this URI.`,
    );
  }
  const bytes = bytesOf(content);
  if (resource) await verify(resource, bytes);
  const { mimeType } = content;
  return {
    uri,
    ...(typeof mimeType === "string" && { mimeType }),
    text: exactText(bytes),
    bytes,
    isVerified: resource !== undefined,
  };
}

async function verify({ uri, size, digest }: SkillResource, bytes: Uint8Array): Promise<void> {
  if (bytes.length !== size) {
    throw new SkillRefused("size", uri, `${uri} has ${bytes.length} bytes, but its skill lists ${size}. ${stale}`);
  }
  if ((await digestOf(bytes)) !== digest) {
    throw new SkillRefused(
      "digest",
      uri,
      `The content of ${uri} does not match the digest that its skill lists. ${stale}`,
    );
  }
}

const stale = "If the skill has changed, load it again by its URI. It then needs a new approval.";

function bytesOf(content: ResourceContents): Uint8Array {
  const { text, blob }: { text?: unknown; blob?: unknown } = content;
  if (typeof text === "string") return new TextEncoder().encode(text);
  try {
    if (typeof blob === "string") return fromBase64(blob);
  } catch {
    // Invalid base64 is reported below.
  }
  throw new LocalError("invalid_message", `The content of ${content.uri} is neither text nor base64.`);
}

/** Returns the path of the first difference of two JSON values, such as `metadata.version`, or undefined if they are equal. */
function difference(first: unknown, second: unknown, path = "front matter"): string | undefined {
  if (Array.isArray(first) && Array.isArray(second)) {
    if (first.length !== second.length) return path;
    for (const [index, value] of first.entries()) {
      const place = difference(value, second[index], `${path}[${index}]`);
      if (place !== undefined) return place;
    }
    return undefined;
  }
  if (!isObject(first) || !isObject(second)) return first === second ? undefined : path;
  for (const key of new Set([...Object.keys(first), ...Object.keys(second)])) {
    const member = `${path}.${key}`;
    if (!Object.hasOwn(first, key) || !Object.hasOwn(second, key)) return member;
    const place = difference(first[key], second[key], member);
    if (place !== undefined) return place;
  }
  return undefined;
}
