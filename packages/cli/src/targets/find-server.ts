import { join, relative } from "node:path";
import {
  type ConfigValue,
  type ConfiguredServer,
  type Problem,
  type ReadResult,
  expandTarget,
  readServers,
} from "@mcparley/config";
import { homeFolder } from "@mcparley/internal/home-folder";
import type { Target } from "./target.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/io.ts";
import { type Machine, readGivenFile } from "./config-file.ts";
import { asUsageError, problemError } from "./config-problem.ts";
import { splitHost } from "./host-ids.ts";
import { readRevision } from "./revision.ts";

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
  const places = items.flatMap((item) => {
    const { file, folder = "", scope } = item;
    const rank = scope === "project" ? projectFiles.indexOf(relative(folder, file)) : -1;
    return rank === -1 ? [] : [{ item, rank, depth: folder.length }];
  });
  return places
    .toSorted((first, second) => second.depth - first.depth || first.rank - second.rank)
    .map(({ item }) => item);
}

/**
 * Finds a server by `NAME` or `HOST:NAME`. Returns undefined if there is no such name.
 *
 * The servers of the user have precedence over those of projects, because other people write the files of a project. Of the files of
 * projects, the nearest folder has precedence, and `HOST:NAME` never means a name that a file has. Throws `UsageError` if the server is
 * disabled, if a file that may have the name is invalid, and if several servers of the same precedence have the name.
 */
export function findServer(word: string, { servers, problems }: ReadResult): ConfiguredServer | undefined {
  const chosenHost = splitHost(word);
  const isMeant = ({ host }: Pick<Problem, "host">): boolean => !chosenHost || host === chosenHost.host;
  const namedServers = servers.filter((server) => server.name === (chosenHost?.name ?? word) && isMeant(server));
  // A project can disable a server of the user, and cannot replace it.
  const disabledServers = namedServers.filter(({ isDisabled, scope }) => isDisabled && scope === "project");
  const isOff = ({ host, scope }: ConfiguredServer): boolean =>
    scope !== "project" && disabledServers.some((server) => server.host === host);
  const active = namedServers.filter((server) => !server.isDisabled && !isOff(server));
  const ownServers = active.filter(({ scope }) => scope !== "project");
  if (ownServers.length > 0) return onlyOne(word, closestOfEachHost(ownServers));
  // Otherwise a project that disables a server of the user could define one with its name.
  const ownDisabled = namedServers.find(
    (server) => server.scope !== "project" && (isOff(server) || server.disabledBy?.folder !== undefined),
  );
  if (ownDisabled) return enabledServer(disabledServers.find(({ host }) => host === ownDisabled.host) ?? ownDisabled);
  // A file of the user that cannot be read may have the name of a server of a project.
  const unreadable = problems.find((one) => one.scope !== undefined && one.scope !== "project" && isMeant(one));
  if (unreadable && (chosenHost || active.length > 0)) throw problemError(unreadable);
  const invalid = chosenHost ? problems.filter((one) => one.scope === "project" && isMeant(one)) : inProjects(problems);
  const [nearest] = byDepth([...active, ...invalid]);
  const first = nearest ?? disabledServers[0] ?? namedServers[0];
  if (!first) return undefined;
  if (!("name" in first) || first.disabledBy) return enabledServer(first);
  return onlyOne(
    word,
    active.filter(({ folder }) => folder === first.folder),
  );
}

/** Returns the server if all have the same target. Throws `UsageError` with their places if not. */
function onlyOne(word: string, namedServers: readonly ConfiguredServer[]): ConfiguredServer {
  if (new Set(namedServers.map(identityOf)).size > 1) throw ambiguous(word, namedServers);
  return namedServers[0]!;
}

/** Returns the first server of each host: a local entry replaces that of the user. */
function closestOfEachHost(servers: readonly ConfiguredServer[]): ConfiguredServer[] {
  const hosts = [...new Set(servers.map(({ host }) => host))];
  return hosts.flatMap((host) => {
    const entries = servers.filter((server) => server.host === host);
    return [entries.find(({ scope }) => scope === "local") ?? entries[0]!];
  });
}

/** Returns servers and problems, those of the deepest folder first. A problem is before the servers of its folder, which it may hide. */
function byDepth(items: readonly (ConfiguredServer | Problem)[]): (ConfiguredServer | Problem)[] {
  return items.toSorted(
    (first, second) => depthOf(second) - depthOf(first) || Number("name" in first) - Number("name" in second),
  );
}

function depthOf({ folder = "" }: Pick<Problem, "folder">): number {
  return folder.length;
}

/** Finds a server in the file of `--config`. Throws `UsageError` with the names of the file, and if the server is disabled. */
export function findInFile(word: string, config: string, machine: Machine): ConfiguredServer {
  const { servers, problems } = readGivenFile(config, machine);
  const serverOrProblem = servers.find(({ name }) => name === word) ?? problems[0];
  if (serverOrProblem) return enabledServer(serverOrProblem);
  const names = servers.map(({ name }) => name);
  throw new UsageError(`${config} has no server ${JSON.stringify(word)}.`, didYouMean(word, names));
}

/** Returns a server. Throws `UsageError` if it is disabled, and for the problem of a file. */
function enabledServer(serverOrProblem: ConfiguredServer | Problem): ConfiguredServer {
  if (!("name" in serverOrProblem)) throw problemError(serverOrProblem);
  if (serverOrProblem.disabledBy) throw problemError(serverOrProblem.disabledBy);
  return serverOrProblem;
}

function ambiguous(word: string, namedServers: readonly ConfiguredServer[]): UsageError {
  const hosts = new Set(namedServers.map(({ host }) => host));
  const name = splitHost(word)?.name ?? word;
  // Two files of one host have the same form HOST:NAME.
  const forms = namedServers.map(({ host, file, line }) =>
    hosts.size === namedServers.length ? `${host}:${name} (${file}:${line})` : `--config ${file} (line ${line})`,
  );
  return new UsageError(
    `Several files have different servers with the name ${JSON.stringify(word)}.`,
    `Select one: ${forms.join(", ")}.`,
  );
}

/** Returns a text that is equal for equal targets. */
function identityOf({ target, file, line }: ConfiguredServer): string {
  if (!target) return `${file}:${line}`;
  const { revision } = target;
  if (target.kind === "url")
    return JSON.stringify([target.url, target.transport, sortedValues(target.headers), revision]);
  const { command, args, env, cwd, envFile } = target;
  return JSON.stringify([command, args, sortedValues(env), cwd, envFile, revision]);
}

function sortedValues(table: ReadonlyMap<string, ConfigValue>): [string, ConfigValue][] {
  return [...table].toSorted(([first], [second]) => (first < second ? -1 : 1));
}

/**
 * Returns the target of a server with the values of its references. `input` returns the value of each input; by default they have none.
 * Throws `UsageError` for a reference without a value.
 */
export async function targetOf(
  server: ConfiguredServer,
  { cwd, env }: Pick<Machine, "cwd" | "env">,
  input?: () => string,
): Promise<Target> {
  const folder = server.folder ?? cwd;
  const options = { env, folder, home: homeFolder(env), ...(input && { input }) };
  const { entry, ...target } = await expandTarget(server, options).catch((error: unknown) => {
    throw asUsageError(error);
  });
  const { name, scope, file, positionOf } = server;
  const facts = {
    origin: { name, scope, entry },
    ...(target.revision !== undefined && {
      revision: readRevision(target.revision, `${file}:${positionOf("revision").line}`),
    }),
  };
  if (target.kind === "command") return { ...target, ...facts };
  const { url, headers } = target;
  return { kind: "url", url, headers, ...facts };
}
