import { LocalError, systemClock } from "mcparley";
import { unlessAborted, wakefulClock } from "../async/timing.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { checkLimits } from "../input/input-limits.ts";
import { resolveEntry } from "../servers/resolve-entry.ts";
import type { ServerEntry } from "../servers/server-entry.ts";
import type { HostServer } from "../servers/host-server.ts";
import type { HostParts } from "./host-parts.ts";
import { Server } from "./server.ts";

/** Milliseconds to wait for servers whose lists are not known. */
const DEFAULT_WAIT = 5_000;

/** Minimum milliseconds between two checks whether the user has answered. */
const MIN_WAIT = 100;

/** The servers of a host. */
export interface HostServers {
  readonly byName: ReadonlyMap<string, HostServer>;
  /** Returns a server that is not disabled. */
  usable(this: void, name: string): Server | undefined;
  /** Returns the servers in the order in which they were added. */
  all(this: void): readonly Server[];
  /** Adds a server whose name is not in use. */
  add(this: void, name: string, entry: ServerEntry): HostServer;
  /** Adds a server after the removal of the one with its name. An entry that cannot be used removes no server. */
  replace(this: void, name: string, entry: ServerEntry): Promise<HostServer>;
  remove(this: void, name: string): Promise<void>;
  ready(this: void, options?: { wait?: number; signal?: AbortSignal }): Promise<Catalogue>;
  /** Notifies the servers that are connected. */
  rootsChanged(this: void): Promise<void>;
  close(this: void): Promise<void>;
}

/** Returns the servers of a host, without any. */
export function hostServers(parts: HostParts): HostServers {
  const byName = new Map<string, Server>();
  const publicByName = new Map<string, HostServer>();
  /** The servers that are being closed. Their programs have not ended. */
  const removing = new Map<string, Promise<void>>();
  let isClosed = false;

  function add(name: string, entry: ServerEntry): HostServer {
    if (isClosed) throw new LocalError("closed", "The host is closed. Create a new one.");
    const server = new Server(parts, name, entry);
    byName.set(name, server);
    publicByName.set(name, server.public);
    return server.public;
  }

  function remove(name: string): Promise<void> {
    const server = byName.get(name);
    if (!server) return removing.get(name) ?? Promise.resolve();
    byName.delete(name);
    publicByName.delete(name);
    const closing = server.close().finally(() => removing.delete(name));
    removing.set(name, closing);
    // At once, so that no call starts while the program of the server ends.
    parts.catalogue.remove(name);
    parts.consent.forgetServer(name);
    return closing;
  }

  return {
    byName: publicByName,
    all: () => [...byName.values()],
    usable(name) {
      const server = byName.get(name);
      return server?.state === "disabled" ? undefined : server;
    },
    add,
    async replace(name, entry) {
      checkEntry(name, entry);
      // Another call can add a server with this name during the removal.
      while (byName.has(name) || removing.has(name)) await remove(name);
      return add(name, entry);
    },
    remove,
    async ready({ wait = DEFAULT_WAIT, signal } = {}) {
      const loading = Promise.all([...byName.values()].map((server) => server.ready()));
      await within(loading, { ms: wait, clock: parts.clock, signal, isPaused: parts.consent.isAsking });
      return parts.catalogue.current;
    },
    async rootsChanged() {
      const connected = [...byName.values()].filter(({ state }) => state === "ready");
      const work = connected.map((server) => server.use((client) => client.rootsChanged()));
      // A server that cannot be notified requests the roots again after its next connection.
      await Promise.allSettled(work);
    },
    async close() {
      isClosed = true;
      await Promise.all([...removing.values(), ...[...byName.values()].map((server) => server.close())]);
    },
  };
}

/** Throws for an entry that `Server` would refuse. */
function checkEntry(name: string, entry: ServerEntry): void {
  checkLimits(resolveEntry(name, entry).settings.inputLimits);
}

interface Waiting {
  readonly ms: number;
  readonly clock: HostParts["clock"];
  readonly signal: AbortSignal | undefined;
  /** Returns whether the time does not count now. It is asked when the time is over, which then starts again. */
  readonly isPaused: () => boolean;
}

/** Resolves when the work ends or the time is over. Rejects with the reason of the signal. */
async function within(work: Promise<unknown>, { ms, clock, signal, isPaused }: Waiting): Promise<void> {
  signal?.throwIfAborted();
  // The program must not end during the wait if a server in this process is hung.
  const wakeful = clock === systemClock ? wakefulClock : clock;
  let timer: unknown;
  const over = new Promise<void>((resolve) => {
    const expire = (): void => {
      if (!isPaused()) resolve();
      else timer = wakeful.setTimeout(expire, Math.max(ms, MIN_WAIT));
    };
    if (Number.isFinite(ms)) timer = wakeful.setTimeout(expire, ms);
  });
  try {
    await unlessAborted(Promise.race([work, over]), signal);
  } finally {
    wakeful.clearTimeout(timer);
  }
}
