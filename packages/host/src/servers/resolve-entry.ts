import { LocalError, printableJson } from "mcparley";
import type { CommandTarget, InProcessServer, Timeouts } from "mcparley/client";
import type { ServerEntry, ServerSettings } from "./server-entry.ts";
import type { ResolvedTarget, SupervisedEntry } from "../supervision/supervised-entry.ts";
import type { ServerTarget } from "../values/server-target.ts";

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
