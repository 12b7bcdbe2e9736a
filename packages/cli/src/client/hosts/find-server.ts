import {
  type ConfigValue,
  type ConfiguredServer,
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
import { readGivenFile } from "./config-file.ts";
import { asUsageError, withoutCure } from "./config-problem.ts";
import { splitHost } from "./host-ids.ts";

/** The folder and the environment whose configurations are read. */
export interface Machine {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/** Reads the configurations of all hosts. */
export function readAll({ cwd, env, platform }: Machine): ReadResult {
  return readServers({ folder: cwd, env, ...(platform && { platform }) });
}

/** The scopes in their order of precedence. */
const precedence: readonly Scope[] = ["local", "project", "user"];

/**
 * Finds a server by `NAME` or `HOST:NAME`. Returns undefined if no host has the name.
 *
 * In one host, the nearest entry has precedence. Throws `UsageError` if several hosts have different servers of the name, and if the
 * entries are turned off.
 */
export function findServer(word: string, { servers }: ReadResult): ConfiguredServer | undefined {
  const chosen = splitHost(word);
  if (chosen) return ofOneHost(servers.filter(({ host, name }) => host === chosen.host && name === chosen.name));
  const named = servers.filter(({ name }) => name === word);
  const active = named.filter(({ isDisabled }) => !isDisabled);
  const [disabled] = named;
  if (disabled && active.length === 0) {
    const { file, line, host } = disabled;
    const cure = `Turn it on there, or select it with its host: ${host}:${word}`;
    throw new UsageError(`The server ${JSON.stringify(word)} is turned off in ${file}:${line}.`, cure);
  }
  const hosts = [...new Set(active.map(({ host }) => host))];
  const found = hosts.flatMap((host) => ofOneHost(active.filter((entry) => entry.host === host)) ?? []);
  if (new Set(found.map(identityOf)).size > 1) throw ambiguous(word, found);
  return found[0];
}

/** Finds a server in the file of `--config`. Throws `UsageError` with the names of the file. */
export function findInFile(word: string, config: string, cwd: string): ConfiguredServer {
  const { servers, problems } = readGivenFile(config, cwd);
  const server = servers.find(({ name }) => name === word);
  if (server) return server;
  const [problem] = problems;
  if (problem) throw new UsageError(withoutCure(problem.message, problem.cure), problem.cure);
  const names = servers.map(({ name }) => name);
  throw new UsageError(`${config} has no server ${JSON.stringify(word)}.`, didYouMean(word, names));
}

function ofOneHost(entries: readonly ConfiguredServer[]): ConfiguredServer | undefined {
  return precedence.flatMap((scope) => entries.filter((entry) => entry.scope === scope))[0];
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
