import type { Client } from "../../../client/calls/client.ts";
import type { RequestOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { FrontMatterError } from "../front-matter/yaml.ts";
import { type FrontMatter, readFrontMatter } from "../front-matter/front-matter.ts";
import { type SkillFrontMatter, type SkillResource, skillFile } from "../skill-entry.ts";
import { isPlainPath, pathIn, rootOf, uriOf } from "../skill-uri.ts";
import type { OfferedSkill } from "./offered-skill.ts";
import { type SkillContent, readFile } from "./read-file.ts";
import { difference } from "./same-json.ts";
import { SkillRefused } from "./skill-refused.ts";

/** What reading the files of a skill needs. */
export interface SkillReading {
  readonly client: Client;
  readonly skill: OfferedSkill;
  /** For dynamic skills: how many bytes are read in all. */
  readonly bytes: number;
}

/** A skill that was approved, and whose `SKILL.md` was verified: a host acts on it as long as it holds this. */
export class LoadedSkill {
  /** The entry that it was loaded from. Its files are read and verified by this one, whatever the server says later. */
  readonly skill: OfferedSkill;
  /** The whole `SKILL.md`. It is a server's text: show a model where it comes from, and trust it no further. */
  readonly text: string;
  /** What follows the front matter. */
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

  /** The server that it comes from, by the name that the host has for it. */
  get server(): string {
    return this.skill.server;
  }

  /** Fields such as `allowed-tools` ask for something: they grant nothing unless the user says so. */
  get frontmatter(): SkillFrontMatter {
    return this.skill.frontmatter;
  }

  /** The paths of its files, `SKILL.md` included; undefined where the skill is dynamic. */
  get files(): string[] | undefined {
    const { resources, uri } = this.skill;
    return resources === "dynamic" ? undefined : resources.map((one) => pathIn(rootOf(uri)!, one.uri));
  }

  /**
   * Reads a file by its path in the skill's folder, as `SKILL.md` refers to it, or by its URI; each file once.
   *
   * Nothing else is ever read: throws `SkillRefused` for a file that is not the skill's, such as one of another
   * server, and for one whose content is not what the entry says. Throws `too_large` where a dynamic skill goes on
   * and on.
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
    const content = await readFile(client, target, options);
    if (target.listed) return content;
    if (this.#bytes + content.bytes.length > bytes) {
      throw new LocalError("too_large", `The skill ${this.skill.uri} has more than ${bytes} bytes.`);
    }
    this.#bytes += content.bytes.length;
    return content;
  }
}

/** Reads and verifies the `SKILL.md` of an approved skill. */
export async function loadSkill(reading: SkillReading, options: RequestOptions): Promise<LoadedSkill> {
  const { client, skill, bytes } = reading;
  const file = await readFile(client, targetOf(skill, skillFile), options);
  if (file.bytes.length > bytes) throw new LocalError("too_large", `${skill.uri} has more than ${bytes} bytes.`);
  return new LoadedSkill(reading, file, verifiedFrontMatter(skill, file));
}

/** What a user approved by the entry must be what a model is given (Frontmatter Verification). */
function verifiedFrontMatter({ uri, frontmatter }: OfferedSkill, { text }: SkillContent): FrontMatter {
  if (text === undefined) throw new SkillRefused("frontmatter", uri, `${uri} is no text.`);
  try {
    const read = readFrontMatter(text);
    const differs = difference(frontmatter, read.frontmatter);
    if (differs === undefined) return read;
    throw new SkillRefused("frontmatter", uri, `The ${differs} of ${uri} is not what the server says of the skill.`);
  } catch (error) {
    if (!(error instanceof FrontMatterError)) throw error;
    throw new SkillRefused("frontmatter", uri, `The front matter of ${uri} cannot be compared: ${error.message}`);
  }
}

interface Target {
  readonly uri: string;
  /** Undefined for dynamic skills. */
  readonly listed: SkillResource | undefined;
}

/** The file that a reference means. What is not the skill's is refused before anything is sent. */
function targetOf({ uri: skillUri, resources, server }: OfferedSkill, file: string): Target {
  const root = rootOf(skillUri)!;
  for (const path of pathsOf(root, file)) {
    if (resources === "dynamic") return { uri: uriOf(path, root), listed: undefined };
    const listed = resources.find(({ uri }) => pathIn(root, uri) === path);
    if (listed) return { uri: listed.uri, listed };
  }
  const shown = JSON.stringify(file.slice(0, 200));
  throw new SkillRefused("unlisted", file, `${shown} is no file of the skill ${skillUri} of ${server}.`);
}

/** The paths in the skill's folder that a reference may mean: as it is written, and with its percent-encoding undone. */
function pathsOf(root: string, file: string): string[] {
  const [reference = ""] = file.split("#", 1);
  const isUri = /^[a-z][a-z\d+.-]*:/i.test(reference);
  if (isUri && !reference.startsWith(`${root}/`)) return [];
  const path = isUri ? reference.slice(root.length + 1) : reference.replace(/^(?:\.\/)+/, "");
  return [...(isUri ? [] : [path]), ...decoded(path)].filter(isPlainPath);
}

function decoded(path: string): string[] {
  try {
    return [decodeURIComponent(path)];
  } catch {
    return [];
  }
}
