import { join, relative } from "node:path";
import {
  type ConfigValue,
  type ConfiguredServer,
  type Problem,
  type ReadResult,
  type Scope,
  type ServerTarget,
  expandTarget,
  formatValue,
  readServers,
  referencesIn,
} from "@mcparley/config";
import type { Origin } from "../config/approval.ts";
import type { Target } from "../config/config-target.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { UsageError } from "../io.ts";
import { type Machine, readGivenFile } from "./config-file.ts";
import { asUsageError, problemError } from "./config-problem.ts";
import { splitHost } from "./host-ids.ts";

/** Reads the configurations of all hosts. */
export function readAll({ cwd, env, platform }: Machine): ReadResult {
  return readServers({ folder: cwd, env, ...(platform && { platform }) });
}

/** The files of a project in their order of precedence within a folder. */
const projectFiles: readonly string[] = [
  "mcp.json",
  ".mcp.json",
  join(".vscode", "mcp.json"),
  join(".cursor", "mcp.json"),
];

type Place = Pick<Problem, "file" | "folder" | "scope">;

/** Returns those servers or problems that files of projects have, the nearest folder first. */
export function inProjects<T extends Place>(items: readonly T[]): T[] {
  const found = items.flatMap((item) => {
    const { file, folder = "", scope } = item;
    const rank = scope === "project" ? projectFiles.indexOf(relative(folder, file)) : -1;
    return rank === -1 ? [] : [{ item, rank, depth: folder.length }];
  });
  return found.toSorted((one, other) => other.depth - one.depth || one.rank - other.rank).map(({ item }) => item);
}

/**
 * Finds a server by `NAME` or `HOST:NAME`. Returns undefined if there is no such name.
 *
 * The nearest file of a project has precedence, also for a name that has a colon. In one host, the nearest entry has precedence. Throws
 * `UsageError` if the server is disabled, if a file with precedence is invalid, and if several hosts have different servers of the name.
 */
export function findServer(word: string, { servers, problems }: ReadResult): ConfiguredServer | undefined {
  const named = servers.filter(({ name }) => name === word);
  const chosen = splitHost(word);
  const [nearest] = inProjects<ConfiguredServer | Problem>(chosen ? named : [...named, ...problems]);
  if (nearest) return enabledServer(nearest);
  if (chosen) {
    const entries = servers.filter(({ host, name }) => host === chosen.host && name === chosen.name);
    const hostProblems = problems.filter(({ host, scope }) => host === chosen.host && scope !== undefined);
    const [first] = byPrecedence<ConfiguredServer | Problem>([...entries, ...hostProblems]);
    return first && enabledServer(first);
  }
  const hosts = [...new Set(named.map(({ host }) => host))];
  const found = hosts.flatMap((host) => byPrecedence(named.filter((entry) => entry.host === host)).slice(0, 1));
  const active = found.filter(({ isDisabled }) => !isDisabled);
  if (new Set(active.map(identityOf)).size > 1) throw ambiguous(word, active);
  const [first = found[0]] = active;
  return first && enabledServer(first);
}

/** Finds a server in the file of `--config`. Throws `UsageError` with the names of the file, and if the server is disabled. */
export function findInFile(word: string, config: string, machine: Machine): ConfiguredServer {
  const { servers, problems } = readGivenFile(config, machine);
  const found = servers.find(({ name }) => name === word) ?? problems[0];
  if (found) return enabledServer(found);
  const names = servers.map(({ name }) => name);
  throw new UsageError(`${config} has no server ${JSON.stringify(word)}.`, didYouMean(word, names));
}

/** Returns a server. Throws `UsageError` if it is disabled, and for the problem of a file. */
function enabledServer(found: ConfiguredServer | Problem): ConfiguredServer {
  if (!("name" in found)) throw problemError(found);
  if (found.disabledBy) throw problemError(found.disabledBy);
  return found;
}

/** The scopes in their order of precedence. */
const precedence: readonly (Scope | undefined)[] = ["local", "project", "user"];

function byPrecedence<T extends Place>(items: readonly T[]): T[] {
  return items.toSorted(
    (one, other) =>
      precedence.indexOf(one.scope) - precedence.indexOf(other.scope) ||
      (other.folder?.length ?? 0) - (one.folder?.length ?? 0),
  );
}

function ambiguous(word: string, found: readonly ConfiguredServer[]): UsageError {
  const forms = found.map(({ host, file, line }) => `${host}:${word} (${file}:${line})`);
  return new UsageError(
    `Several hosts have different servers with the name ${JSON.stringify(word)}.`,
    `Select one: ${forms.join(", ")}.`,
  );
}

/** Returns a text that is equal for equal targets. */
function identityOf({ target, file, line }: ConfiguredServer): string {
  if (!target) return `${file}:${line}`;
  if (target.kind === "url") return JSON.stringify([target.url, target.transport, sorted(target.headers)]);
  const { command, args, env, cwd, envFile } = target;
  return JSON.stringify([command, args, sorted(env), cwd, envFile]);
}

function sorted(table: ReadonlyMap<string, ConfigValue>): [string, ConfigValue][] {
  return [...table].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns the target of a server with the values of its references. Throws `UsageError` for a reference without a value. */
export async function targetOf(server: ConfiguredServer, { cwd, env }: Machine): Promise<Target> {
  const folder = server.folder ?? cwd;
  const home = env["HOME"];
  const expanded = await expandTarget(server, { env, folder, ...(home && { home }) }).catch((error: unknown) => {
    throw asUsageError(error);
  });
  const origin = originOf(server, expanded.kind === "command" ? { folder, ...expanded } : { folder });
  if (expanded.kind === "command") return { ...expanded, origin };
  const { url, headers } = expanded;
  return { kind: "url", url, headers, origin };
}

interface Expanded {
  readonly folder: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the part of a server that the user approves. References are shown as such, not by their values. */
function originOf({ file, name, target }: ConfiguredServer, { folder, cwd, env = {} }: Expanded): Origin {
  if (!target) throw new UsageError(`${file}: the server ${JSON.stringify(name)} is invalid.`);
  if (target.kind === "url") {
    const headers = written(target.headers);
    const sends = variablesOf(target);
    return { file, name, folder, url: formatValue(target.url), headers, env: {}, envFile: [], sends };
  }
  const command = [target.command, ...target.args].map(formatValue);
  const envFile = Object.keys(env).filter((variable) => !target.env.has(variable));
  const base = { file, name, folder, command, headers: {}, env: written(target.env), envFile, sends: [] };
  return { ...base, ...(cwd !== undefined && { cwd }) };
}

function written(table: ReadonlyMap<string, ConfigValue>): Record<string, string> {
  return Object.fromEntries([...table].map(([name, value]) => [name, formatValue(value)]));
}

/** Returns the names of the variables and files that a server at a URL receives. */
function variablesOf(target: ServerTarget): string[] {
  const names = referencesIn(target).flatMap((reference) => {
    if (reference.kind === "env") return [reference.name];
    return reference.kind === "file" ? [reference.path] : [];
  });
  return [...new Set(names)];
}
