import {
  ConfigError,
  type ConfigPlan,
  type ConfiguredServer,
  type HostId,
  type Scope,
  type ServerTarget,
  planAdd,
  planRemove,
  planUpdate,
} from "@mcparley/config";
import { didYouMean } from "../../did-you-mean.ts";
import { UsageError } from "../io.ts";
import type { EditSetting, EditWords } from "../session.ts";
import { withUsageErrors } from "./config-problem.ts";
import { findInFile, findServer, readAll } from "./find-server.ts";
import { readHost } from "./host-ids.ts";
import { forHost, withoutSecrets } from "./host-target.ts";
import { commandTarget, urlTarget, withAbsolutePaths, withAbsoluteTarget } from "./new-target.ts";
import { pinPackages } from "./pin-packages.ts";
import { tryServer } from "./try-server.ts";
import { writeChanges } from "./write-changes.ts";

/** Adds a server to hosts: connects to it once, shows the changes, asks, and writes them. */
export async function addServer(words: EditWords, setting: EditSetting): Promise<void> {
  const { io, options } = setting;
  const to = readHosts(options.to, "--to");
  const scope = readScope(options.scope) ?? "user";
  const source = readSource(words, scope, setting);
  const pinned = options.noPin
    ? source
    : { ...source, target: await pinPackages(source, requireTarget(source), setting) };
  const found = options.noCheck ? undefined : await tryServer(pinned, setting);
  const name = options.name ?? (source.name || nameFrom(found));
  const target = source.file === "" ? requireTarget(pinned) : copied(requireTarget(pinned), name, setting);
  const plans = to.map((host) =>
    withUsageErrors(() =>
      planFor({
        folder: io.cwd,
        env: io.env,
        platform: io.platform,
        host,
        scope,
        name,
        ...forHost(target, host, name),
      }),
    ),
  );
  await writeChanges(plans, setting);
}

/** Returns the server that TARGET describes: a new one without a file, or one of another configuration. */
function readSource({ positionals, command }: EditWords, scope: Scope, { io, options }: EditSetting): ConfiguredServer {
  const [word] = positionals;
  if (command) {
    const words = scope === "project" ? command : withAbsolutePaths(command, io.cwd);
    return newServer(commandTarget(words, options), io.cwd);
  }
  if (word === undefined) {
    throw new UsageError(
      "Which server? TARGET is missing.",
      "Give a URL, a name of a configuration, or a command after --.",
    );
  }
  if (/^https?:\/\//i.test(word)) return newServer(urlTarget(word, options), io.cwd);
  if (Object.keys(options.env).length + Object.keys(options.headers).length > 0) {
    throw new UsageError(
      "--env and --header do not apply to a server that is copied.",
      "Leave them out, or give its URL or command.",
    );
  }
  const found = readAll(io);
  const server = options.config === undefined ? findServer(word, found) : findInFile(word, options.config, io);
  if (server) return scope === "project" ? server : withAbsolutePathsOf(server, io.cwd);
  const names = found.servers.flatMap(({ host, name }) => [name, `${host}:${name}`]);
  throw new UsageError(`No host has a server ${JSON.stringify(word)}.`, didYouMean(word, [...new Set(names)]));
}

/** Returns a server of a project with absolute paths, because a host starts it in any folder. */
function withAbsolutePathsOf(server: ConfiguredServer, cwd: string): ConfiguredServer {
  if (server.scope !== "project" || !server.target) return server;
  return { ...server, target: withAbsoluteTarget(server.target, server.folder ?? cwd) };
}

function newServer(target: ServerTarget, folder: string): ConfiguredServer {
  const position = { line: 1, column: 1 };
  const place = { file: "", line: 1, positionOf: () => position, rawEntry: () => undefined };
  const state = { isDisabled: false, disabledBy: undefined, problems: [] };
  return { host: "claude-code", name: "", scope: "user", folder, target, ...state, ...place };
}

function requireTarget({ target, problems, name }: ConfiguredServer): ServerTarget {
  if (target) return target;
  throw new UsageError(problems[0]?.message ?? `The server ${JSON.stringify(name)} is invalid.`);
}

/** Returns a target of another configuration without its literal secrets, and notes the variables that replace them. */
function copied(target: ServerTarget, name: string, { screen }: EditSetting): ServerTarget {
  const copy = withoutSecrets(target, name);
  for (const variable of copy.variables) {
    screen.noteParagraph(
      `A secret is not copied. Set the variable ${variable} where the host starts, or answer when it asks.`,
    );
  }
  return copy.target;
}

/** Returns a name for the entry from the name that the server has itself. */
function nameFrom(name: string | undefined): string {
  const safe = name
    ?.replaceAll(/[^\w-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  if (safe !== undefined && safe !== "") return safe;
  throw new UsageError("The entry needs a name, because the server was not asked for its own.", "Add --name NAME.");
}

/** Plans a new server, or the replacement of one that has the name. */
function planFor(options: Parameters<typeof planAdd>[0]): ConfigPlan {
  try {
    return planAdd(options);
  } catch (error) {
    if (error instanceof ConfigError && error.code === "exists") return planUpdate(options);
    throw error;
  }
}

/** Removes a server from hosts: shows the changes, asks, and writes them. */
export async function removeServer({ positionals, command }: EditWords, setting: EditSetting): Promise<void> {
  const { io, options } = setting;
  const [name] = positionals;
  if (command) throw new UsageError("remove starts no program.", "Leave out -- and the words after it.");
  if (name === undefined) throw new UsageError("Which server? NAME is missing.", "mcparley servers lists the names.");
  const from = readHosts(options.from, "--from");
  const scope = readScope(options.scope);
  const { servers } = readAll(io);
  const plans = from.map((host) => {
    const found = entryOf(servers, { host, name, scope });
    const folder = found.folder ?? io.cwd;
    const { env, platform } = io;
    return withUsageErrors(() => planRemove({ folder, env, platform, host, scope: found.scope, name }));
  });
  await writeChanges(plans, setting);
}

interface Wanted {
  readonly host: HostId;
  readonly name: string;
  readonly scope: Scope | undefined;
}

/** Returns the entry to remove. Throws `UsageError` if there is none, or if several scopes have one. */
function entryOf(servers: readonly ConfiguredServer[], { host, name, scope }: Wanted): ConfiguredServer {
  const inHost = servers.filter((server) => server.host === host && (scope === undefined || server.scope === scope));
  const found = inHost.filter((server) => server.name === name);
  const scopes = [...new Set(found.map((server) => server.scope))];
  const [first] = found;
  if (first && scopes.length === 1) return first;
  if (first) {
    const places = found.map((server) => `${server.scope} (${server.file}:${server.line})`);
    throw new UsageError(`${host} has several servers ${JSON.stringify(name)}.`, `Add --scope: ${places.join(", ")}.`);
  }
  const where = scope === undefined ? "" : ` in the scope ${scope}`;
  const names = inHost.map((server) => server.name);
  throw new UsageError(`${host} has no server ${JSON.stringify(name)}${where}.`, didYouMean(name, names));
}

function readHosts(words: readonly string[], option: string): HostId[] {
  const ids = words.flatMap((word) => word.split(",")).filter((word) => word !== "");
  if (ids.length === 0) throw new UsageError(`Which host? ${option} is missing.`, `Such as ${option} claude-code`);
  return [...new Set(ids.map(readHost))];
}

const scopes: readonly Scope[] = ["user", "project", "local"];

function readScope(word: string | undefined): Scope | undefined {
  if (word === undefined) return undefined;
  const scope = scopes.find((one) => one === word);
  if (scope) return scope;
  throw new UsageError(`There is no scope ${JSON.stringify(word)}.`, didYouMean(word, scopes));
}
