import type { Client } from "../../../client/client.ts";
import { type PagedList, listOf, requireStrings } from "../../../client/lists/list-pages.ts";
import type { RequestOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { Declined } from "../../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import type { Resource } from "../../../mcp/resources.ts";
import { SkillMethod, digestOf, skillLimits, skillsId, isInside } from "../skill-entry.ts";
import { type LoadedSkill, loadSkill } from "./loaded-skill.ts";
import { type OfferedSkill, type SkillLimits, SkillRefused, readEntry } from "./offered-skill.ts";

/** A request for the user's approval, before a skill is loaded. */
export interface SkillApprovalRequest {
  /** The skill, with its server, its front matter and all its files. */
  readonly skill: OfferedSkill;
  /** `changed` if its files have changed since it was approved; `dynamic` if its files can change at any time. */
  readonly reason: "new" | "changed" | "dynamic";
}

/**
 * A store for approvals. A key identifies a server and a skill. A value identifies the approved files of the skill. Both
 * are opaque.
 */
export interface SkillApprovals {
  /** Returns the stored value of a key, or undefined. */
  get(key: string): string | undefined | Promise<string | undefined>;
  /** Stores a value. A returned promise is awaited. */
  set(key: string, value: string): unknown;
}

/** Decides whether a skill may be loaded. */
export type ApproveSkill = (request: SkillApprovalRequest) => boolean | Promise<boolean>;

/** Options of `skillsOf`. */
export interface SkillHostOptions {
  /**
   * Called before a skill is loaded, and again if any of its files has changed since. A skill can make a model run code
   * on this machine: show the user the server, the description and the files.
   */
  approve: ApproveSkill;
  /**
   * The host's name for the server. Default: the target of the connection. Choose a stable name if approvals are stored,
   * and never a name that the server chose itself.
   */
  server?: string;
  /** Store for approvals. Default: in memory, for this object alone. */
  approvals?: SkillApprovals;
  /** Limits on the number and size of skills. Each has a default. */
  limits?: Partial<SkillLimits>;
  /** Whether to load skills whose files cannot be verified. Each load then needs an approval. Default: false. */
  dynamic?: boolean;
  /** Called with the error of each entry that is left out of a list. */
  onError?: (error: Error) => void;
}

/** The skills of one server, for a host that passes them to a model. */
export interface SkillHost {
  /** Whether the server has skills at all. */
  readonly isOffered: boolean;
  /**
   * Lists the skills of the server, checked in their form and limits. Reads none of their files. The server may have
   * skills that it does not list. Two skills may have the same name: the server and the URI identify a skill.
   */
  list(options?: RequestOptions): PagedList<OfferedSkill>;
  /** Returns the current entry of a skill by the URI of its `SKILL.md`, listed or not. */
  get(uri: string, options?: RequestOptions): Promise<OfferedSkill>;
  /**
   * Loads a skill: asks for approval unless the same files were approved before, reads its `SKILL.md` and verifies it.
   *
   * Throws `Declined` if it is not approved, and `SkillRefused` if it differs from its entry: it must not reach a model
   * then.
   */
  load(skill: OfferedSkill | string, options?: RequestOptions): Promise<LoadedSkill>;
  /** Lists the current content of a folder, if the server supports it. A loaded skill reads only files of its entry. */
  readDirectory(uri: string, options?: RequestOptions): PagedList<Resource>;
}

/**
 * Returns the skills of a client's server. Throws nothing; the methods throw `not_capable` if the server has no skills.
 *
 * Stage of the extension `io.modelcontextprotocol/skills` on 2026-11-26: Beta. Breaking changes of its specification are
 * possible. They are rare, batched, and listed in its changelog. Before version 1.0, this library follows them in a minor
 * release.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 * import { skillsOf } from "mcparley/skills";
 *
 * declare function askUser(question: string): Promise<boolean>;
 *
 * const client = await connect("https://example.com/mcp");
 * const skills = skillsOf(client, {
 *   server: "shop",
 *   approve: ({ skill, reason }) => askUser(`Load ${skill.uri} of ${skill.server} (${reason})?`),
 * });
 * for await (const offered of skills.list()) {
 *   const { text } = await skills.load(offered);
 *   console.log(text);
 * }
 * ```
 */
export function skillsOf(client: Client, options: SkillHostOptions): SkillHost {
  const { approve, server = client.target, approvals = new Map<string, string>() } = options;
  const limits: SkillLimits = { ...skillLimits, ...options.limits };
  const report = (error: Error): void => options.onError?.(error);

  async function readSkill(entry: unknown): Promise<OfferedSkill> {
    const skill = { ...readEntry(entry, limits), server };
    await revokeIfChanged(approvals, skill);
    return skill;
  }

  async function get(uri: string, request: RequestOptions = {}): Promise<OfferedSkill> {
    settingsOf(client, SkillMethod.get);
    const { skill } = await client.request(SkillMethod.get, { uri }, request);
    const entry = await readSkill(skill);
    if (entry.uri === uri) return entry;
    throw new LocalError("invalid_message", `${SkillMethod.get} was called with ${uri} and returned ${entry.uri}.`);
  }

  return {
    get isOffered() {
      return declaredSettings(client) !== undefined;
    },
    list: (request = {}) => listSkills(client, { readSkill, report }, request),
    get,
    async load(reference, request = {}) {
      const skill =
        typeof reference === "string" ? await get(reference, request) : checkGiven(reference, server, limits);
      settingsOf(client, "Loading a skill");
      if (skill.resources === "dynamic" && options.dynamic !== true) {
        const why = `The files of ${skill.uri} are dynamic and cannot be verified. Set "dynamic" to load such skills.`;
        throw new SkillRefused("dynamic", skill.uri, why);
      }
      await requireApproval(approvals, skill, approve);
      return loadSkill({ client, skill, bytes: limits.bytes }, request);
    },
    readDirectory: (uri, request = {}) => listDirectory(client, { uri, report }, request),
  };
}

function listSkills(
  client: Client,
  { readSkill, report }: { readSkill: (entry: unknown) => Promise<OfferedSkill>; report: (error: Error) => void },
  request: RequestOptions,
): PagedList<OfferedSkill> {
  return listOf(() => {
    const uris = new Set<string>();
    return {
      method: SkillMethod.list,
      member: "skills",
      key: "uri",
      async fetch(cursor) {
        settingsOf(client, SkillMethod.list);
        // A reading starts again with the first page if the server refuses a cursor.
        if (cursor === undefined) uris.clear();
        return client.request(SkillMethod.list, cursor === undefined ? {} : { cursor }, request);
      },
      async read(entry) {
        const skill = await readSkill(entry);
        if (uris.has(skill.uri)) throw new TypeError("it is listed twice");
        uris.add(skill.uri);
        return skill;
      },
      report,
      forget: () => {},
    };
  });
}

function listDirectory(
  client: Client,
  { uri, report }: { uri: string; report: (error: Error) => void },
  request: RequestOptions,
): PagedList<Resource> {
  return listOf(() => ({
    method: SkillMethod.readDirectory,
    member: "resources",
    key: "uri",
    async fetch(cursor) {
      if (settingsOf(client, SkillMethod.readDirectory).directoryRead !== true) {
        throw notCapable(SkillMethod.readDirectory, '"directoryRead" of the extension');
      }
      return client.request(SkillMethod.readDirectory, cursor === undefined ? { uri } : { uri, cursor }, request);
    },
    read(entry) {
      requireStrings(entry, "uri", "name");
      if (!isInside(uri, entry.uri)) throw new TypeError("it is not in the folder");
      return entry as unknown as Resource;
    },
    report,
    forget: () => {},
  }));
}

/** Checks an entry of the caller like one from the server, because it may come from a file or another server. */
function checkGiven(skill: OfferedSkill, server: string, limits: SkillLimits): OfferedSkill {
  if (skill.server === server) return { ...readEntry(skill, limits), server };
  const why = `The skill ${skill.uri} belongs to ${skill.server} and cannot be loaded from ${server}.`;
  throw new SkillRefused("unlisted", skill.uri, why);
}

function declaredSettings(client: Client): JsonObject | undefined {
  const { extensions } = client.server.capabilities;
  const settings = isObject(extensions) && Object.hasOwn(extensions, skillsId) ? extensions[skillsId] : undefined;
  return isObject(settings) ? settings : undefined;
}

/** Returns the settings of the extension that the server declared. Throws `not_capable` if there are none. */
function settingsOf(client: Client, what: string): JsonObject {
  const settings = declaredSettings(client);
  if (settings) return settings;
  throw notCapable(what, `the extension ${skillsId}`);
}

function notCapable(what: string, requirement: string): LocalError {
  return new LocalError("not_capable", `${what} requires ${requirement}, and the server has not declared it.`);
}

/** The stored value if the skill has changed since its approval. */
const revokedMark = "revoked";

/** Revokes an approval if the server now lists other files. It stays revoked if the server lists the approved files again. */
async function revokeIfChanged(approvals: SkillApprovals, skill: OfferedSkill): Promise<void> {
  const approval = await approvals.get(skillKey(skill));
  if (approval === undefined || approval === revokedMark || approval === (await contentOf(skill))) return;
  await approvals.set(skillKey(skill), revokedMark);
}

/** Asks for an approval unless the same files were approved before. Throws `Declined`. */
async function requireApproval(approvals: SkillApprovals, skill: OfferedSkill, approve: ApproveSkill): Promise<void> {
  const content = await contentOf(skill);
  const approval = await approvals.get(skillKey(skill));
  if (content !== undefined && approval === content) return;
  const reason = content === undefined ? "dynamic" : approval === undefined ? "new" : "changed";
  const answer: unknown = await approve({ skill, reason });
  if (answer !== true) throw new Declined(`The skill ${skill.uri} of ${skill.server} was not approved.`);
  if (content !== undefined) await approvals.set(skillKey(skill), content);
}

/** Returns the key of a skill. Two servers may have different skills at the same URI (Skill Entries, Skill URIs). */
function skillKey({ server, uri }: OfferedSkill): string {
  return JSON.stringify([server, uri]);
}

/** Returns a digest of all files with their digests, in any order. Undefined for a dynamic skill. */
async function contentOf({ resources }: OfferedSkill): Promise<string | undefined> {
  if (resources === "dynamic") return undefined;
  const files = resources.map(({ uri, digest }) => JSON.stringify([uri, digest])).toSorted();
  return digestOf(new TextEncoder().encode(files.join("\n")));
}
