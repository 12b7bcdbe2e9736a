import { type ConfiguredServer, type HostId, type Scope, planRemove } from "@mcparley/config";
import { withUsageErrors } from "../../targets/config-problem.ts";
import { readAll } from "../../targets/find-server.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import type { Words } from "../../terminal/options.ts";
import type { CommandSetting } from "../connection/command.ts";
import type { RemoveOptions } from "./options.ts";
import { readHosts, readScope } from "./read-places.ts";
import { writeChanges } from "./write-changes.ts";

/** Removes a server from hosts: shows the changes, asks, and writes them. */
export async function removeServer(
  { positionals, command }: Words,
  setting: CommandSetting<RemoveOptions>,
): Promise<void> {
  const { io, options } = setting;
  const [name] = positionals;
  if (command) throw new UsageError("remove starts no program.", "Leave out -- and the words after it.");
  if (name === undefined) throw new UsageError("Which server? NAME is missing.", "mcparley servers lists the names.");
  const hosts = readHosts(options.from, "--from");
  const scope = readScope(options.scope);
  const { servers } = readAll(io);
  const plans = hosts.map((host) => {
    const server = entryOf(servers, { host, name, scope });
    const folder = server.folder ?? io.cwd;
    const { env, platform } = io;
    return withUsageErrors(() => planRemove({ folder, env, platform, host, scope: server.scope, name }));
  });
  await writeChanges(plans, setting);
}

/** Returns the entry to remove. Throws `UsageError` if there is none, or if several scopes have one. */
function entryOf(
  servers: readonly ConfiguredServer[],
  { host, name, scope }: { host: HostId; name: string; scope: Scope | undefined },
): ConfiguredServer {
  const inHost = servers.filter((server) => server.host === host && (scope === undefined || server.scope === scope));
  const namedServers = inHost.filter((server) => server.name === name);
  const scopes = new Set(namedServers.map((server) => server.scope));
  const [first] = namedServers;
  if (first && scopes.size === 1) return first;
  if (first) {
    const places = namedServers.map((server) => `${server.scope} (${server.file}:${server.line})`);
    throw new UsageError(`${host} has several servers ${JSON.stringify(name)}.`, `Add --scope: ${places.join(", ")}.`);
  }
  const where = scope === undefined ? "" : ` in the scope ${scope}`;
  const names = inHost.map((server) => server.name);
  throw new UsageError(`${host} has no server ${JSON.stringify(name)}${where}.`, didYouMean(name, names));
}
