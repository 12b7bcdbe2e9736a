import { LocalError } from "mcparley";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ServerEntry } from "../servers/server-entry.ts";
import type { HostServer } from "../servers/server-state.ts";
import { type HostParts, type HostedServer, hostServer } from "./host-server.ts";

/** Milliseconds to wait for servers whose lists are not known. */
const DEFAULT_WAIT = 5_000;

/** The servers of a host. */
export interface HostServers {
  readonly byName: ReadonlyMap<string, HostServer>;
  /** Returns a server that is not disabled. */
  usable(this: void, name: string): HostedServer | undefined;
  /** Returns the servers in the order in which they were added. */
  all(this: void): readonly HostedServer[];
  add(this: void, name: string, entry: ServerEntry): HostServer;
  remove(this: void, name: string): Promise<void>;
  ready(this: void, options?: { wait?: number; signal?: AbortSignal }): Promise<Catalogue>;
  /** Notifies the servers that are connected. */
  rootsChanged(this: void): Promise<void>;
  close(this: void): Promise<void>;
}

/** Returns the servers of a host, without any. */
export function hostServers(parts: HostParts): HostServers {
  const hosted = new Map<string, HostedServer>();
  const byName = new Map<string, HostServer>();
  let isClosed = false;

  async function remove(name: string): Promise<void> {
    const server = hosted.get(name);
    hosted.delete(name);
    byName.delete(name);
    await server?.close();
    if (!hosted.has(name)) parts.catalogue.remove(name);
  }

  return {
    byName,
    all: () => [...hosted.values()],
    usable(name) {
      const server = hosted.get(name);
      return server?.supervised.state === "disabled" ? undefined : server;
    },
    add(name, entry) {
      if (isClosed) throw new LocalError("closed", "The host is closed. Create a new one.");
      const server = hostServer(parts, name, entry);
      hosted.set(name, server);
      byName.set(name, server.shown);
      return server.shown;
    },
    remove,
    async ready({ wait = DEFAULT_WAIT, signal } = {}) {
      const loading = Promise.all([...hosted.values()].map(usableOrFailed));
      await within(loading, { ms: wait, clock: parts.clock, signal });
      return parts.catalogue.current;
    },
    async rootsChanged() {
      const connected = [...hosted.values()].filter(({ supervised }) => supervised.state === "ready");
      const work = connected.map(({ supervised }) => supervised.use((client) => client.rootsChanged()));
      // A server that cannot be notified requests the roots again after its next connection.
      await Promise.allSettled(work);
    },
    async close() {
      isClosed = true;
      await Promise.all([...hosted.values()].map(({ close }) => close()));
    },
  };
}

/** Connects a server whose lists are not known, and waits for their review. Never rejects. */
async function usableOrFailed({ supervised, reviewed }: HostedServer): Promise<void> {
  await supervised.settled();
  if (supervised.state !== "disabled" && !supervised.lists) await supervised.connect().catch(() => {});
  await reviewed.settled();
}

interface Waiting {
  readonly ms: number;
  readonly clock: HostParts["clock"];
  readonly signal: AbortSignal | undefined;
}

/** Resolves when the work ends or the time is over. Rejects with the reason of the signal. */
async function within(work: Promise<unknown>, { ms, clock, signal }: Waiting): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = Number.isFinite(ms) ? clock.setTimeout(() => settle(resolve), ms) : undefined;
    const abort = (): void => settle(() => reject(signal?.reason as Error));
    const settle = (end: () => void): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      end();
    };
    signal?.addEventListener("abort", abort);
    work.then(
      () => settle(resolve),
      (error: Error) => settle(() => reject(error)),
    );
  });
}
