import { setImmediate as nextTurn } from "node:timers/promises";
import { LocalError } from "mcparley";
import { deadline, unlessAborted } from "../async/timing.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { checkLimits } from "../input/input-context.ts";
import { type HostServer, type ServerEntry, resolveEntry } from "../servers/server-entry.ts";
import type { HostParts } from "./host-parts.ts";
import { Server } from "./server.ts";

/** Milliseconds to wait for servers whose lists are not known. */
const DEFAULT_WAIT = 5_000;
/** Minimum milliseconds between two checks whether the user has answered. */
const MIN_WAIT = 100;

/** Milliseconds to wait for lists that have changed. */
const CHANGES_WAIT = 2_000;

/** The servers of a host. */
export class HostServers {
  readonly #parts: HostParts;
  readonly #servers = new Map<string, Server>();
  readonly #public = new Map<string, HostServer>();
  /** The servers that are being closed. Their programs have not ended. */
  readonly #removing = new Map<string, Promise<void>>();
  /** The servers whose changed lists took longer than `CHANGES_WAIT`, and are still being read or reviewed. */
  readonly #slowServers = new Set<Server>();
  #isClosed = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  get byName(): ReadonlyMap<string, HostServer> {
    return this.#public;
  }

  /** Returns a server that is not disabled. */
  usable(name: string): Server | undefined {
    const server = this.#servers.get(name);
    return server?.public.state === "disabled" ? undefined : server;
  }

  /** Returns the servers in the order in which they were added. */
  all(): readonly Server[] {
    return [...this.#servers.values()];
  }

  /** Adds a server whose name is not in use. */
  add(name: string, entry: ServerEntry): HostServer {
    if (this.#isClosed) throw new LocalError("closed", "The host is closed. Create a new one.");
    const server = new Server(this.#parts, name, entry);
    this.#servers.set(name, server);
    this.#public.set(name, server.public);
    return server.public;
  }

  /** Adds a server after the removal of the one with its name. An entry that cannot be used removes no server. */
  async replace(name: string, entry: ServerEntry): Promise<HostServer> {
    checkLimits(resolveEntry(name, entry).settings.inputLimits);
    // Another call can add a server with this name during the removal.
    while (this.#servers.has(name) || this.#removing.has(name)) await this.remove(name);
    return this.add(name, entry);
  }

  remove(name: string): Promise<void> {
    const server = this.#servers.get(name);
    if (!server) return this.#removing.get(name) ?? Promise.resolve();
    this.#servers.delete(name);
    this.#public.delete(name);
    const closing = server.close().finally(() => this.#removing.delete(name));
    this.#removing.set(name, closing);
    // At once, so that no call starts while the program of the server ends.
    this.#parts.catalogue.remove(name);
    this.#parts.consent.forgetServer(name);
    return closing;
  }

  /** Connects the servers whose lists are not known. Resolves when they are ready or the time is over. Rejects with the reason of the signal. */
  async ready({ wait = DEFAULT_WAIT, signal }: { wait?: number; signal?: AbortSignal } = {}): Promise<Catalogue> {
    const { catalogue, consent, wakefulClock } = this.#parts;
    const connecting = Promise.all(this.all().map((server) => server.ready()));
    signal?.throwIfAborted();
    let timer: unknown;
    const expiry = new Promise<void>((resolve) => {
      const expire = (): void => {
        // The time in which the user answers does not count: it starts again.
        if (!consent.isAsking()) resolve();
        else timer = wakefulClock.setTimeout(expire, Math.max(wait, MIN_WAIT));
      };
      if (Number.isFinite(wait)) timer = wakefulClock.setTimeout(expire, wait);
    });
    try {
      await unlessAborted(Promise.race([connecting, expiry]), signal);
    } finally {
      wakefulClock.clearTimeout(timer);
    }
    return catalogue.current;
  }

  /**
   * Waits until lists that have changed are in the catalogue, at the longest for two seconds. A server that takes longer is not waited for
   * again until its lists are there. Rejects with the reason of the signal.
   */
  async readChanges(signal: AbortSignal): Promise<void> {
    // A notification can arrive directly after the answer to a call.
    await nextTurn();
    signal.throwIfAborted();
    const changed = this.all().filter((server) => server.hasChanges && !this.#slowServers.has(server));
    if (changed.length === 0) return;
    const limit = deadline(this.#parts.wakefulClock, signal, { ms: CHANGES_WAIT, message: "" });
    const slowServers = new Set(changed);
    const readings = changed.map(async (server) => {
      await server.readChanges();
      slowServers.delete(server);
      this.#slowServers.delete(server);
    });
    try {
      await unlessAborted(Promise.all(readings), limit.signal);
    } catch {
      signal.throwIfAborted();
      for (const server of slowServers) this.#slowServers.add(server);
    } finally {
      limit.clear();
    }
  }

  /** Notifies the servers that are connected. */
  async rootsChanged(): Promise<void> {
    const servers = this.all().filter((server) => server.public.state === "ready");
    const work = servers.map((server) => server.use((client) => client.rootsChanged()));
    // A server that cannot be notified requests the roots again after its next connection.
    await Promise.allSettled(work);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#removing.values(), ...this.all().map((server) => server.close())]);
  }
}
