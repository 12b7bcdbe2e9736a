import { ConfigError, type ConfigPlan, type Scope, type ServerTarget, planAdd, planUpdate } from "@mcparley/config";
import { withUsageErrors } from "../../targets/config-problem.ts";
import { findInFile, findServer, readAll } from "../../targets/find-server.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import { remarkOnName } from "../../terminal/questions/server-text.ts";
import type { Words } from "../../terminal/options.ts";
import type { CommandSetting } from "../connection/command.ts";
import { forHost, withoutSecrets } from "./host-target.ts";
import { type NewServer, commandTarget, urlTarget, withAbsolutePaths, withAbsoluteTarget } from "./new-target.ts";
import type { AddOptions } from "./options.ts";
import { pinPackages } from "./pin-packages.ts";
import { readHosts, readScope } from "./read-places.ts";
import { tryServer } from "./try-server.ts";
import { writeChanges } from "./write-changes.ts";

/** Adds a server to hosts: connects to it once, shows the changes, asks, and writes them. */
export async function addServer(words: Words, setting: CommandSetting<AddOptions>): Promise<void> {
  const { io, options, screen } = setting;
  const hosts = readHosts(options.to, "--to");
  const scope = readScope(options.scope) ?? "user";
  const source = withRevision(readSource(words, scope, setting), options.revision);
  const server = options.noPin ? source : { ...source, target: await pinPackages(source, setting) };
  const ownName = options.noCheck ? undefined : await tryServer(server, setting);
  const name = options.name ?? server.origin?.name ?? nameFrom(ownName);
  const nameRemark = remarkOnName(name);
  if (nameRemark !== undefined) screen.noteParagraph(nameRemark);
  const target = server.origin ? copyTarget(server.target, name, setting) : server.target;
  const { cwd: folder, env, platform } = io;
  const copiedRevision = options.revision === undefined ? target.revision : undefined;
  const plans = hosts.map((host) => {
    const hasRevision = host === "mcparley" || copiedRevision === undefined;
    if (!hasRevision)
      screen.noteParagraph(`The revision ${copiedRevision} is not copied to ${host}, which finds it itself.`);
    const hostTarget = hasRevision ? target : { ...target, revision: undefined };
    return withUsageErrors(() =>
      planFor({ folder, env, platform, host, scope, name, ...forHost(hostTarget, host, name) }, options.replace),
    );
  });
  await writeChanges(plans, setting);
}

/** Returns the server that TARGET describes: a new one, or one of another configuration. */
function readSource(
  { positionals, command }: Words,
  scope: Scope,
  { io, options }: CommandSetting<AddOptions>,
): NewServer {
  const [word] = positionals;
  if (command) {
    const words = scope === "project" ? command : withAbsolutePaths(command, io.cwd);
    return { target: commandTarget(words, options) };
  }
  if (word === undefined) {
    throw new UsageError(
      "Which server? TARGET is missing.",
      "Give a URL, a name of a configuration, or a command after --.",
    );
  }
  if (/^https?:\/\//i.test(word)) return { target: urlTarget(word, options) };
  if (Object.keys(options.env).length + Object.keys(options.header).length > 0) {
    throw new UsageError(
      "--env and --header do not apply to a server that is copied.",
      "Leave them out, or give its URL or command.",
    );
  }
  const configurations = readAll(io);
  const origin = options.config === undefined ? findServer(word, configurations) : findInFile(word, options.config, io);
  if (origin?.target) {
    // A host starts the program in a folder of its choice.
    const isMoved = scope !== "project" && origin.scope === "project";
    return { target: isMoved ? withAbsoluteTarget(origin.target, origin.folder ?? io.cwd) : origin.target, origin };
  }
  if (origin) throw new UsageError(origin.problems[0]?.message ?? `The server ${JSON.stringify(word)} is invalid.`);
  const names = configurations.servers.flatMap(({ host, name }) => [name, `${host}:${name}`]);
  throw new UsageError(`No host has a server ${JSON.stringify(word)}.`, didYouMean(word, [...new Set(names)]));
}

/** Returns a server with the revision of the command line. `auto` is the default of each host, and is not written. */
function withRevision(server: NewServer, revision: string | undefined): NewServer {
  if (revision === undefined) return server;
  return { ...server, target: { ...server.target, revision: revision === "auto" ? undefined : revision } };
}

/** Returns a target of another configuration without its literal secrets, and notes the variables that replace them. */
function copyTarget(target: ServerTarget, name: string, { screen }: CommandSetting<AddOptions>): ServerTarget {
  const copy = withoutSecrets(target, name);
  for (const variable of copy.variables) {
    screen.noteParagraph(
      `A secret is not copied. Set the variable ${variable} where the host starts, or answer when it asks.`,
    );
  }
  return copy.target;
}

/** Returns a name for the entry from the name that the server has itself. */
function nameFrom(ownName: string | undefined): string {
  const name = ownName
    ?.replaceAll(/[^\w-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  if (name !== undefined && name !== "") return name;
  throw new UsageError("The entry needs a name, because the server was not asked for its own.", "Add --name NAME.");
}

/**
 * Plans a new server. An entry with the name is only replaced with `--replace`: a name can be that of the server, which could take the place of
 * another one. An entry that has the same members stays as it is.
 */
function planFor(options: Parameters<typeof planAdd>[0], replace: boolean): ConfigPlan {
  try {
    return planAdd(options);
  } catch (error) {
    if (!(error instanceof ConfigError && error.code === "exists")) throw error;
    const plan = planUpdate(options);
    if (replace || plan.before === plan.after) return plan;
    throw new UsageError(
      `${error.file} has another server ${JSON.stringify(options.name)}.`,
      "Choose another name with --name NAME, or replace that server with --replace.",
    );
  }
}
