import { type FetchHandler, toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
import type { HttpOptions } from "../../packages/mcparley/src/http/server/options.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import type { Principal } from "../../packages/mcparley/src/server/core/context.ts";
import type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
import { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type RawAnswer, type RawHttp, type RawMessage, openHttpSession, rawHttp } from "../support/raw-http.ts";

export type Headers_ = Record<string, string>;

/** A simulated process. */
export interface Node {
  readonly server: Server;
  readonly http: FetchHandler;
  readonly client: RawHttp;
  /** The errors that its `onError` received. */
  readonly errors: unknown[];
  /** Simulates a crash: from now on the process has no effect on the store or on clients. */
  kill(): void;
  /** Aborted by `kill`. */
  readonly death: AbortSignal;
}

export interface Cluster {
  readonly nodes: readonly Node[];
  readonly clock: FakeClock;
  readonly store: Store;
  /** A client behind a load balancer, which sends each request to the next live node. */
  readonly client: RawHttp;
  /** `fetch` through the load balancer. The death of a node breaks its connections. */
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

export interface ClusterInit {
  /** Created for each node, as in each process. */
  definition: (node: number) => Partial<AnyServerDefinition>;
  nodes?: number;
  options?: HttpOptions;
  store?: (clock: FakeClock) => Store;
  /** A clock that several clusters share. */
  clock?: FakeClock;
  /** Called for each operation of a node on the store: first before it, and with `done` after it had its effect. */
  onOperation?: ((node: Node, step: "before" | "done", name: string) => void) | undefined;
}

const url = "http://localhost/mcp";

/** Makes processes that share one store. */
export function cluster(init: ClusterInit): Cluster {
  const { definition, nodes: count = 3, options = {}, store: make, clock = fakeClock(1_000_000), onOperation } = init;
  const store = make ? make(clock) : memoryStore({ clock });
  const nodes = Array.from({ length: count }, (_, index) =>
    startNode({ clock, store, options, onOperation }, definition(index)),
  );
  let turn = 0;
  const next = (): Node => {
    for (let tries = 0; tries < count; tries++) {
      const node = nodes[turn++ % count]!;
      if (!node.death.aborted) return node;
    }
    throw new TypeError("fetch failed: no node is alive");
  };
  const client = rawHttp(url, (request) => next().http.fetch(request));
  const close = async (): Promise<void> => {
    await Promise.all(nodes.filter(({ death }) => !death.aborted).map(({ http }) => http.close()));
  };
  return { nodes, clock, store, client, close, fetch: async (...sent) => fetchFrom(next(), new Request(...sent)) };
}

/** Sends a request to a node. If the node dies, the request fails, or the body of its response breaks. */
async function fetchFrom({ http, death }: Node, request: Request): Promise<Response> {
  const failing = new Promise<never>((_, reject) => {
    death.addEventListener("abort", () => reject(new TypeError("fetch failed")));
  });
  failing.catch(() => {});
  const response = await Promise.race([http.fetch(request), failing]);
  const body = response.body?.pipeThrough(new TransformStream(), { signal: death });
  return new Response(body ?? null, response);
}

function startNode(
  {
    clock,
    store,
    options,
    onOperation,
  }: Required<Pick<ClusterInit, "options" | "clock">> & Pick<ClusterInit, "onOperation"> & { store: Store },
  definition: Partial<AnyServerDefinition>,
): Node {
  const errors: unknown[] = [];
  const killer = new AbortController();
  const isOver = (): boolean => killer.signal.aborted;
  const own = dying(store, isOver, (step, name) => onOperation?.(node, step, name));
  const server = createServer({
    name: "test",
    version: "1.0.0",
    clock: mortal(clock, isOver),
    onError: (error: unknown) => errors.push(error),
    store: own,
    ...definition,
  });
  const http = toFetch(server, options);
  const node: Node = {
    server,
    http,
    client: rawHttp(url, http.fetch),
    errors,
    kill: () => killer.abort(),
    death: killer.signal,
  };
  return node;
}

/** The store of a process. When the process is dead, operations never settle and have no effect. */
function dying(store: Store, isDead: () => boolean, onStep: (step: "before" | "done", name: string) => void): Store {
  return new Proxy(store, {
    get: (target, member: keyof Store) =>
      member === "subscribe"
        ? (channel: string, listener: (message: string) => void) =>
            target.subscribe(channel, (message) => isDead() || listener(message))
        : async (...given: never[]) => {
            const name = `${member} ${String(given[0])}`;
            if (!isDead()) onStep("before", name);
            if (isDead()) return new Promise(() => {});
            const value = await (target[member] as (...all: never[]) => unknown)(...given);
            if (!isDead()) onStep("done", name);
            return isDead() ? new Promise(() => {}) : value;
          },
  });
}

/** A clock whose timers have no effect after the process has died. */
function mortal(clock: FakeClock, isDead: () => boolean): FakeClock {
  return { ...clock, setTimeout: (fn, ms) => clock.setTimeout(() => isDead() || fn(), ms) };
}

/** A store that records its write operations with their names. */
export function recording(store: Store): Store & { writes: string[]; keys(): Promise<string[]> } {
  const writes: string[] = [];
  const names = new Set<string>();
  const write = (operation: string, name: string): void => {
    writes.push(`${operation} ${name}`);
    names.add(name);
  };
  return {
    ...store,
    writes,
    /** The keys that have a value. */
    async keys() {
      const found = await Promise.all(
        [...names].map(async (name) => ((await store.get(name)) === undefined ? [] : name)),
      );
      return found.flat();
    },
    set: (key, ...rest) => (write("set", key), store.set(key, ...rest)),
    compareAndSet: (key, ...rest) => (write("compareAndSet", key), store.compareAndSet(key, ...rest)),
    append: (log, ...rest) => (write("append", log), store.append(log, ...rest)),
    delete: (key) => (write("delete", key), store.delete(key)),
    publish: (channel, message) => (write("publish", channel), store.publish(channel, message)),
  };
}

/** A store that fails while a switch is on. */
export function failing(store: Store): Store & { isAway: boolean; operations: string[] } {
  const state = { isAway: false, operations: [] as string[] };
  return new Proxy(state as never, {
    get: (_, member: keyof Store & keyof typeof state) => {
      if (member in state) return Reflect.get(state, member);
      return (...given: never[]) => {
        state.operations.push(member);
        if (state.isAway) return Promise.reject(new Error("no route to the store"));
        return (store[member] as (...all: never[]) => unknown)(...given);
      };
    },
    set: (_, member, value) => Reflect.set(state, member, value),
  });
}

export const known: Record<string, Principal> = {
  "Bearer alice": { issuer: "https://as.example", subject: "alice", scopes: [] },
  "Bearer bob": { issuer: "https://as.example", subject: "bob", scopes: [] },
};

/** Options of an endpoint with the users alice and bob. */
export const authenticated: HttpOptions = {
  auth: (request) => known[request.header("authorization") ?? ""],
};

/** Opens a session of a client that answers all input requests. */
export function open(client: RawHttp, version = "2025-11-25", headers: Headers_ = {}): Promise<Headers_> {
  return openHttpSession(client, { version, capabilities: { elicitation: {}, sampling: {}, roots: {} }, headers });
}

export function request(
  client: RawHttp,
  session: Headers_,
  method: string,
  { params = {}, id = 1 }: { params?: JsonObject; id?: number | string } = {},
): Promise<RawAnswer> {
  return client.post({ jsonrpc: "2.0", id, method, params }, session);
}

export const callTool = (
  client: RawHttp,
  session: Headers_,
  name: string,
  id: number | string = 1,
): Promise<RawAnswer> =>
  request(client, session, "tools/call", { id, params: { name, arguments: {}, _meta: { progressToken: `t${id}` } } });

export function getStream(client: RawHttp, session: Headers_, lastEventId?: string): Promise<RawAnswer> {
  const headers: Headers_ = { ...session, accept: "text/event-stream" };
  if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
  return client.send({ method: "GET", headers });
}

/** An event of a stream: its id, and its message, if any. */
export interface Event {
  id: string | undefined;
  message: RawMessage | undefined;
}

/** Returns the next event of a stream, without comments. Undefined at the end of the stream. */
export async function event(answer: RawAnswer): Promise<Event | undefined> {
  for (let block = await answer.block(); block !== undefined; block = await answer.block()) {
    const fields = new Map(
      block.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]),
    );
    const data = fields.get("data");
    if (!fields.has("id") && data === undefined) continue;
    return { id: fields.get("id"), message: data ? (JSON.parse(data) as RawMessage) : undefined };
  }
  return undefined;
}

/** Returns the next event with a message. */
export async function message(answer: RawAnswer): Promise<RawMessage | undefined> {
  for (let next = await event(answer); next; next = await event(answer)) if (next.message) return next.message;
  return undefined;
}

/** Returns the remaining messages of a stream, up to its end. */
export async function messages(answer: RawAnswer): Promise<RawMessage[]> {
  const all: RawMessage[] = [];
  for (let next = await message(answer); next; next = await message(answer)) all.push(next);
  return all;
}

/** Returns the events that have arrived, without waiting, and stops reading the stream. */
export async function soFar(answer: RawAnswer): Promise<RawMessage[]> {
  const all: RawMessage[] = [];
  await flushPromises();
  const reading = (async () => {
    for (let next = await message(answer); next; next = await message(answer)) all.push(next);
  })();
  reading.catch(() => {});
  await flushPromises();
  return [...all];
}
