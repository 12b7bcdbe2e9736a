import { LocalError, systemClock } from "mcparley";
import type { Root } from "mcparley/client";
import { labelTexts } from "../conversation/server-text.ts";
import { createCatalogue } from "../catalogue/create-catalogue.ts";
import { createConsent } from "../consent/consent.ts";
import type { HostOptions } from "./host-options.ts";
import { openWatchdog } from "../processes/watchdog.ts";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { fileState } from "../state/file-state.ts";
import { memoryState } from "../state/state-storage.ts";
import { userFolder } from "../state/user-folder.ts";
import { hostToolNames } from "../loop/stable-tools.ts";
import { checkLimits } from "../input/input-limits.ts";
import { checkTries } from "../model/retries.ts";
import { setFilter } from "./ai-sdk-tools.ts";
import { eventBus } from "./event-bus.ts";
import type { Host } from "./host.ts";
import { type HostContext, hostContext } from "./host-context.ts";
import type { HostParts } from "./host-parts.ts";
import { rendererWithoutSecrets } from "./renderer-without-secrets.ts";
import { hostCalls } from "./host-calls.ts";
import { hostServers } from "./host-servers.ts";
import { hostLoop } from "./host-loop.ts";

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
  checkTries(options.modelTries);
  const shared = sharedParts(options, (name) => servers.byName.has(name));
  const { parts, context } = shared;
  const servers = hostServers(parts);
  const calls = hostCalls(parts, servers);
  const loop = hostLoop(parts, { servers, calls, context });
  const closeAll = async (): Promise<void> => {
    try {
      await loop.close();
    } finally {
      // Also if a conversation cannot be closed.
      await servers.close().finally(() => parts.watchdog.close());
      // A definition may be accepted at this moment. The folder is not used after the host is closed.
      await parts.storage.settled();
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
    ready: servers.ready,
    add: servers.replace,
    remove: servers.remove,
    async setRoots(roots) {
      if (!options.roots) throw new LocalError("not_capable", "The host shares no roots. Pass `roots` to createHost.");
      shared.roots = roots;
      await servers.rootsChanged();
    },
    ...calls.public,
    run: loop.run,
    conversation: loop.conversation,
    subscribe: parts.events.subscribe,
    close,
    [Symbol.asyncDispose]: close,
  };
  setFilter(host, parts.secrets.withoutSecrets);
  return host;
}

interface SharedParts {
  readonly parts: HostParts;
  readonly context: HostContext;
  /** The roots of the host. */
  roots: readonly Root[];
}

/** Returns the parts that all servers of a host share. */
function sharedParts(options: HostOptions, isServer: (name: string) => boolean): SharedParts {
  const clock = options.clock ?? systemClock;
  const isName = (name: string): boolean => isServer(name) || parts.catalogue.current.tool(name) !== undefined;
  const secrets = knownSecrets({ isName, texts: labelTexts });
  if (options.model) secrets.addModels(options.model);
  const { withoutSecrets } = secrets;
  const events = eventBus(options.onEvent, withoutSecrets);
  const renderer = rendererWithoutSecrets(options.renderer ?? {}, withoutSecrets);
  const report = (server: string | undefined, error: Error): void => events.emit({ type: "error", server, error });
  const storage = storageOf(options);
  const context = hostContext();
  const parts: HostParts = {
    options,
    clock,
    storage,
    secrets,
    events,
    watchdog: openWatchdog({ onError: (error) => report(undefined, error) }),
    renderer,
    contextFor: context.contextFor,
    roots: () => shared.roots,
    consent: createConsent({
      policy: options.policy ?? {},
      renderer,
      storage,
      clock,
      onDecision: (decision) => events.emit({ type: "decision", decision }),
      onError: report,
    }),
    catalogue: createCatalogue({
      provider: options.provider,
      reserved: hostToolNames,
      onChange: (change) => events.emit({ type: "catalogue", change }),
      onLoss: (loss) => events.emit({ type: "loss", loss }),
      onError: report,
    }),
  };
  const shared: SharedParts = { parts, context, roots: options.roots ?? [] };
  return shared;
}

function storageOf({ folder }: HostOptions): HostParts["storage"] {
  if (folder === false) return memoryState();
  return fileState(folder ?? userFolder(process));
}
