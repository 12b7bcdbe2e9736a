import { LocalError } from "mcparley";
import { checkLimits } from "../input/input-context.ts";
import { setFilter } from "./ai-sdk-tools.ts";
import type { Host, HostOptions } from "./host.ts";
import { hostCalls } from "./host-calls.ts";
import { hostLoop } from "./host-loop.ts";
import { hostParts } from "./host-parts.ts";
import { HostServers } from "./host-servers.ts";

/**
 * Creates the host of one user. It connects to no server until a server is used, unless the server is `eager`.
 *
 * Create a host for each user: tokens, consent and cached lists belong to one host and its folder. Rejects with `LocalError`
 * `invalid_target` for a server that cannot be used, with a `TypeError` for a rule that is not valid, and with a `RangeError` for a
 * number that is not.
 *
 * @example
 * ```ts
 * import { createHost } from "@mcparley/host";
 *
 * await using host = await createHost({
 *   servers: { wiki: "https://wiki.example.com/mcp", files: { command: "files-server" } },
 *   policy: { trust: "configured", review: "changes", rules: [{ decision: "allow", server: "wiki", tool: "search_*" }] },
 * });
 * await host.ready();
 * console.log(await host.callTool("wiki__search_pages", { query: "backup" }));
 * ```
 */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  checkLimits(options.inputLimits);
  const parts = hostParts(options, (name) => servers.byName.has(name));
  const servers = new HostServers(parts);
  const calls = hostCalls(parts, servers);
  const loop = hostLoop(parts, servers, calls);
  const closeAll = async (): Promise<void> => {
    try {
      await loop.close();
    } finally {
      // Also if a conversation cannot be closed.
      await servers.close().finally(() => parts.watchdog.close());
      // A definition may be accepted at this moment. The folder is not used after the host is closed.
      await parts.storage.waitForUpdates();
    }
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll());
  try {
    for (const [name, entry] of Object.entries(options.servers ?? {})) servers.add(name, entry);
  } catch (error) {
    await close();
    throw error;
  }
  const host: Host = {
    servers: servers.byName,
    get catalogue() {
      return parts.catalogue.current;
    },
    ready: (waiting) => servers.ready(waiting),
    add: (name, entry) => servers.replace(name, entry),
    remove: (name) => servers.remove(name),
    async setRoots(roots) {
      if (!options.roots) throw new LocalError("not_capable", "The host shares no roots. Pass `roots` to createHost.");
      parts.roots = roots;
      await servers.rootsChanged();
    },
    ...calls.public,
    run: loop.run,
    conversation: loop.conversation,
    subscribe: parts.events.subscribe,
    close,
    [Symbol.asyncDispose]: close,
  };
  setFilter(host, (server) => parts.secrets.of(server).withoutSecrets);
  return host;
}
