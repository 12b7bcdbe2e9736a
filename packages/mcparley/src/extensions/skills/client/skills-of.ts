import type { Client } from "../../../client/calls/client.ts";
import { type List, listOf, requireStrings } from "../../../client/calls/lists.ts";
import type { RequestOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import type { Resource } from "../../../mcp/resources.ts";
import { SkillMethod, skillLimits, skillsId } from "../skill-entry.ts";
import { isInside } from "../skill-uri.ts";
import { type Approvals, type Approve, observe, requireApproval } from "./approval.ts";
import { type LoadedSkill, loadSkill } from "./loaded-skill.ts";
import type { OfferedSkill } from "./offered-skill.ts";
import { type SkillLimits, readEntry } from "./read-entry.ts";
import { SkillRefused } from "./skill-refused.ts";

/** Options of `skillsOf`. */
export interface SkillHostOptions {
  /**
   * Asked before a skill is loaded, and again when any of its files has changed since. A skill can have a model run
   * code here: show the person the server, what the skill is for, and its files.
   */
  approve: Approve;
  /**
   * The name that this host has for the server; what was connected to unless given. Give one that lasts where
   * approvals are kept, and never what the server says of itself.
   */
  server?: string;
  /** Where approvals are kept; in memory, for this object alone, unless given. */
  approvals?: Approvals;
  limits?: Partial<SkillLimits>;
  /** Whether to load skills whose files cannot be verified. False unless given; each load is asked about. */
  dynamic?: boolean;
  /** Told of entries that are left out of lists, and why. */
  onError?: (error: Error) => void;
}

/** The skills of one server, for a host that gives them to a model. */
export interface SkillHost {
  /** Whether the server has skills at all. */
  readonly isOffered: boolean;
  /**
   * The skills that the server lists, checked in their form and limits; it may serve others. Nothing of them is read.
   * Two may have the same name: a skill is known by its server and its URI.
   */
  list(options?: RequestOptions): List<OfferedSkill>;
  /** One skill by the URI of its `SKILL.md`, listed or not, as it is now. */
  get(uri: string, options?: RequestOptions): Promise<OfferedSkill>;
  /**
   * Loads a skill: asks for approval unless the same files were approved before, reads its `SKILL.md` and verifies it.
   *
   * Throws `Declined` where it is not approved, and `SkillRefused` where it is not what its entry says: it must not
   * reach a model then.
   */
  load(skill: OfferedSkill | string, options?: RequestOptions): Promise<LoadedSkill>;
  /** What a folder holds at the moment, where the server can say: a loaded skill reads none of it that it does not list. */
  readDirectory(uri: string, options?: RequestOptions): List<Resource>;
}

/** Gives the skills that a client's server offers. Throws nothing; what the server lacks is said when it is asked for. */
export function skillsOf(client: Client, options: SkillHostOptions): SkillHost {
  const { approve, server = client.target, approvals = new Map<string, string>(), onError } = options;
  const limits: SkillLimits = { ...skillLimits, ...options.limits };

  async function take(entry: unknown): Promise<OfferedSkill> {
    const skill = { ...readEntry(entry, limits), server };
    await observe(approvals, skill);
    return skill;
  }

  async function get(uri: string, request: RequestOptions = {}): Promise<OfferedSkill> {
    settingsOf(client, SkillMethod.get);
    const { skill } = await client.request(SkillMethod.get, { uri }, request);
    const taken = await take(skill);
    if (taken.uri === uri) return taken;
    throw new LocalError("invalid_message", `${SkillMethod.get} was asked for ${uri} and answered ${taken.uri}.`);
  }

  return {
    get isOffered() {
      return declared(client) !== undefined;
    },
    list(request = {}) {
      const listed = new Set<string>();
      return listOf({
        method: SkillMethod.list,
        member: "skills",
        fetch: async (cursor) => {
          settingsOf(client, SkillMethod.list);
          if (cursor === undefined) listed.clear();
          return client.request(SkillMethod.list, cursor === undefined ? {} : { cursor }, request);
        },
        async read(entry) {
          const skill = await take(entry);
          if (listed.has(skill.uri)) throw new TypeError("it is listed twice");
          listed.add(skill.uri);
          return skill;
        },
        report: (error) => onError?.(error),
        forget: () => {},
      });
    },
    get,
    async load(given, request = {}) {
      const skill = typeof given === "string" ? await get(given, request) : known(given, server, limits);
      settingsOf(client, "Loading a skill");
      if (skill.resources === "dynamic" && options.dynamic !== true) {
        const why = `The files of ${skill.uri} cannot be verified, and skills like that are not allowed here.`;
        throw new SkillRefused("dynamic", skill.uri, why);
      }
      await requireApproval(approvals, skill, approve);
      return loadSkill({ client, skill, bytes: limits.bytes }, request);
    },
    readDirectory(uri, request = {}) {
      return listOf({
        method: SkillMethod.readDirectory,
        member: "resources",
        fetch: async (cursor) => {
          if (settingsOf(client, SkillMethod.readDirectory).directoryRead !== true) {
            throw notCapable(SkillMethod.readDirectory, '"directoryRead" of the extension');
          }
          return client.request(SkillMethod.readDirectory, cursor === undefined ? { uri } : { uri, cursor }, request);
        },
        read(entry) {
          requireStrings(entry, "uri", "name");
          if (!isInside(uri, entry.uri as string)) throw new TypeError("it is not in that folder");
          return entry as unknown as Resource;
        },
        report: (error) => onError?.(error),
        forget: () => {},
      });
    },
  };
}

/** An entry that was kept may be from anywhere: it is checked like one that was just sent. */
function known(given: OfferedSkill, server: string, limits: SkillLimits): OfferedSkill {
  if (given.server === server) return { ...readEntry(given, limits), server };
  const why = `The skill ${given.uri} is one of ${given.server}, and cannot be loaded from ${server}.`;
  throw new SkillRefused("unlisted", given.uri, why);
}

function declared(client: Client): JsonObject | undefined {
  const { extensions } = client.server.capabilities;
  const settings = isObject(extensions) && Object.hasOwn(extensions, skillsId) ? extensions[skillsId] : undefined;
  return isObject(settings) ? settings : undefined;
}

/** What the server declared of its skills; throws `not_capable` where it has none. */
function settingsOf(client: Client, what: string): JsonObject {
  const settings = declared(client);
  if (settings) return settings;
  throw notCapable(what, `the extension ${skillsId}`);
}

function notCapable(what: string, needed: string): LocalError {
  return new LocalError("not_capable", `${what} needs ${needed}, which the server has not declared.`);
}
