import type { Root, Timeouts, ServerInfo, CommandTarget, InProcessServer } from "mcparley/client";
import { LocalError, printableJson } from "mcparley";
import type { ConfiguredEntry } from "../renderer/renderer.ts";
import type { InputLimits } from "../input/input-context.ts";
import type { ServerTarget } from "../values/types.ts";
import type { ServerLists } from "../catalogue/catalogue.ts";
import type { ServerState } from "../supervision/server-state.ts";
import type { ResolvedTarget, SupervisedEntry } from "../supervision/supervisor-setting.ts";

/** A server of a host, with its settings. */
export interface ServerSettings {
  /** The address of the server. */
  readonly target: ServerTarget;
  /**
   * The entry of a configuration file from which the target comes. Trust, review, rules and stored lists are then bound to everything that
   * the entry says, and not to the values of its references. Default: the target is one of the program itself.
   */
  readonly entry?: ConfiguredEntry | undefined;
  /** Whether the server is not used until `enable()` is called. Default: false. */
  readonly disabled?: boolean;
  /** Whether the host connects at once, and not with the first use. Default: false. */
  readonly eager?: boolean;
  /** Time limits of each call. Default: those of the client. */
  readonly timeout?: Timeouts;
  /** The protocol revision, such as `2025-11-25`. Default: negotiated. */
  readonly revision?: string;
  /** The roots to share with this server. Default: those of the host. */
  readonly roots?: readonly Root[];
  /** Limits on the input requests of this server. Default: those of the host. */
  readonly inputLimits?: Partial<InputLimits>;
}

/** A server of a host: its address, or its address with settings. */
export type ServerEntry = ServerTarget | ServerSettings;

/** A server of a host. */
export interface HostServer {
  /** The name of the server in the host. */
  readonly name: string;
  /** The state of the connection. */
  readonly state: ServerState;
  /** The reason of the state `failed` or `needs-sign-in`. */
  readonly error: Error | undefined;
  /** The time of the next attempt in milliseconds since 1970, if one is planned. */
  readonly retryAt: number | undefined;
  /** The description, capabilities and revision of the server. Undefined before the first connection. */
  readonly info: ServerInfo | undefined;
  /** The lists of the server, which may come from the cache. Undefined if they were never read. */
  readonly lists: ServerLists | undefined;
  /** Connects if no connection is open, and reads the lists. Resolves when the server is `ready`. */
  connect(this: void): Promise<void>;
  /** Closes the connection, and opens a new one without a delay. Denied trust and definitions are asked for again. */
  reconnect(this: void): Promise<void>;
  /**
   * Signs the user in, and connects. `scope` names scopes, separated by spaces, to request in addition to those that the server
   * requires and the user has granted: a server can hide the tools for which they are missing. Rejects if the host has no `signIn`.
   */
  signIn(this: void, options?: { scope?: string }): Promise<void>;
  /** Permits the use of the server again. */
  enable(this: void): void;
  /** Closes the connection, and removes the server's entries from the catalogue. */
  disable(this: void): Promise<void>;
}

/** A checked entry of a server: its name, its target and its settings. */
export interface ResolvedEntry extends SupervisedEntry {
  readonly settings: Omit<ServerSettings, "target">;
}

const maxNameLength = 64;
/** Control, format (such as the direction marks of bidirectional text) and line separator characters, and half surrogate pairs. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const acceptedTargets = 'an http or https URL, { command: "node", args: ["server.js"] }, { url, headers }, or a server';

/**
 * Checks the name and the entry of a server, and returns its target and its settings.
 *
 * Throws `LocalError` `invalid_target` for a name or an entry that cannot be used.
 */
export function resolveEntry(name: string, entry: ServerEntry): ResolvedEntry {
  checkName(name);
  const { target, ...settings } = isSettings(entry) ? entry : { target: entry };
  const server = resolveTarget(name, target);
  checkTimeouts(name, settings.timeout);
  checkConfigured(name, settings.entry);
  return { name, server, settings };
}

function checkName(name: unknown): void {
  // The name may be long and have invisible characters.
  const label = printableJson(String(name).slice(0, 100));
  const cure = `Use 1 to ${maxNameLength} visible characters without ":".`;
  const problem = problemOf(name);
  if (problem) throw new LocalError("invalid_target", `The server name ${label} ${problem}. ${cure}`);
}

function problemOf(name: unknown): string | undefined {
  if (typeof name !== "string") return "is not a string";
  if (name.trim() === "") return "is empty";
  const { length } = Array.from(name);
  if (length > maxNameLength) return `has ${length} characters`;
  if (name !== name.trim()) return "starts or ends with a space";
  if (invisible.test(name)) return "contains control or direction characters";
  if (name.includes(":")) return 'contains ":"';
  return undefined;
}

/** Whether an entry is a target with settings. A server in this process may have any members, so it is recognized first. */
function isSettings(entry: ServerEntry): entry is ServerSettings {
  return isObject(entry) && !isInProcess(entry) && !(entry instanceof URL) && "target" in entry;
}

function resolveTarget(name: string, target: ServerTarget): ResolvedTarget {
  if (typeof target === "string" || target instanceof URL) {
    return { kind: "http", target: { url: readUrl(name, target) } };
  }
  if (isObject(target)) {
    if (isInProcess(target)) return { kind: "in-process", target };
    if ("command" in target) return { kind: "command", target: checkCommand(name, target) };
    if ("url" in target) return { kind: "http", target: { ...target, url: readUrl(name, target.url) } };
  }
  // The values of an object may be secrets.
  const description = isObject(target)
    ? `is an object with the keys ${Object.keys(target).join(", ")}`
    : "is no object";
  throw invalid(name, `The target ${description}. Pass ${acceptedTargets}.`);
}

function readUrl(name: string, target: string | URL): URL {
  const url = URL.canParse(String(target)) ? new URL(target) : undefined;
  // A URL can contain a token, so errors do not contain the given text.
  if (!url) throw invalid(name, `The target is a text that is not a URL. Pass ${acceptedTargets}.`);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw invalid(name, `The URL has the scheme ${url.protocol} Use http or https.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid(name, "The URL contains a user name or a password. Pass them in `headers`.");
  }
  return url;
}

function checkCommand(name: string, target: CommandTarget): CommandTarget {
  const { command, args = [] } = target;
  if (typeof command !== "string" || command === "") throw invalid(name, "`command` must be a text that is not empty.");
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    throw invalid(name, "`args` must be a list of texts.");
  }
  return target;
}

function checkTimeouts(name: string, { idle, total }: Timeouts = {}): void {
  for (const [option, ms] of Object.entries({ idle, total })) {
    if (ms === undefined || (typeof ms === "number" && ms >= 0)) continue;
    throw invalid(name, `\`timeout.${option}\` must be a number of milliseconds, 0 or more; got ${String(ms)}.`);
  }
}

/** An entry without a digest would bind the consent to nothing. */
function checkConfigured(name: string, entry: ServerSettings["entry"]): void {
  if (entry === undefined || /^[0-9a-f]{64}$/.test(entry.digest)) return;
  throw invalid(name, "`entry.digest` must be a SHA-256 of 64 hexadecimal digits. Pass `entry` of `expandTarget`.");
}

function invalid(name: string, message: string): LocalError {
  return new LocalError("invalid_target", `Server ${printableJson(name)}: ${message}`);
}

function isInProcess(value: object): value is InProcessServer {
  return "attach" in value && typeof value.attach === "function";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
