import { expect } from "vitest";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { JsonObject, JsonRpcRequest } from "../../../packages/mcparley/src/rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { modernPeer, peerTransports } from "../../../packages/mcparley/src/testing/peer-transports.ts";
import type { ScriptedPeer } from "../../../packages/mcparley/src/testing/scripted-peer.ts";
import type { Cell, StateTable } from "./table.ts";

type State = "absent" | "requested" | "fresh" | "expired" | "closed";
type Event =
  | "read"
  | "result with a ttl"
  | "result without a ttl"
  | "ttl ends"
  | "change"
  | "change of another"
  | "other credentials"
  | "full"
  | "new session"
  | "close";

const uri = "a:1";
const ttlMs = 1000;

/** A client that reads one resource of a modern server with credentials that can change. */
class World {
  readonly clock: FakeClock = fakeClock();
  readonly credentials = { generation: 1, read: () => Promise.resolve(this.credentials.generation) };
  readonly #peers: ScriptedPeer[] = [modernPeer(), modernPeer()];
  #current = 0;
  /** The requests for the resource. */
  readonly reads: JsonRpcRequest[] = [];
  /** The answer to each request. Undefined leaves the request unanswered. */
  hints: JsonObject | undefined = { ttlMs };
  reading: Promise<unknown> | undefined;
  client!: Client;

  get peer(): ScriptedPeer {
    return this.#peers[this.#current]!;
  }

  async open(): Promise<void> {
    const transports = Object.assign(peerTransports(...this.#peers), { credentials: this.credentials });
    for (const peer of this.#peers) void this.#serve(peer);
    this.client = await openClient(transports, { clock: this.clock });
  }

  async #serve(peer: ScriptedPeer): Promise<void> {
    for (;;) {
      const message = await peer.next();
      if (!("method" in message) || !("id" in message)) continue;
      if (message.params?.uri === uri) this.reads.push(message);
      if (this.hints) peer.answer(message, { contents: [], ...this.hints });
    }
  }

  async read(): Promise<void> {
    this.reading = this.client.readResource(uri);
    this.reading.catch(() => {});
    await flushPromises();
  }

  answer(hints: JsonObject): Promise<unknown> {
    this.peer.answer(this.reads.at(-1)!, { contents: [], ...hints });
    return this.reading!;
  }

  async lose(): Promise<void> {
    const lost = this.peer;
    this.#current++;
    lost.close();
    await flushPromises();
    await this.client.ping();
  }
}

const bring: Record<State, (world: World) => Promise<void>> = {
  absent: async () => {},
  async requested(world) {
    world.hints = undefined;
    await world.read();
  },
  fresh: (world) => world.read(),
  async expired(world) {
    await world.read();
    await world.clock.advance(ttlMs);
  },
  closed: (world) => world.client.close(),
};

/** Returns the state that the requests of the next read show. An expired entry serves no read, so it counts as absent. */
async function stateOf(world: World): Promise<State> {
  if (world.client.state === "closed") return "closed";
  if (world.client.inFlight > 0) {
    await world.answer({ ttlMs });
    return (await isServed(world)) ? "requested" : "absent";
  }
  return (await isServed(world)) ? "fresh" : "absent";
}

/** Returns whether a read is answered from the cache. */
async function isServed(world: World): Promise<boolean> {
  const before = world.reads.length;
  world.hints = { ttlMs: 0 };
  await world.read();
  await world.reading;
  return world.reads.length === before;
}

function cell(from: State, next: State, does: string, act: (world: World) => Promise<void>): Cell {
  return {
    next,
    does,
    async test() {
      const world = new World();
      await world.open();
      await bring[from](world);
      await act(world);
      expect(await stateOf(world)).toBe(next === "expired" ? "absent" : next);
      await world.client.close();
    },
  };
}

async function expectReads(world: World, count: number, act: () => Promise<unknown>): Promise<void> {
  const before = world.reads.length;
  await act();
  expect(world.reads.length - before).toBe(count);
}

const requests = (world: World): Promise<void> => {
  world.hints = undefined;
  return expectReads(world, 1, () => world.read());
};
const update =
  (changed: string) =>
  async (world: World): Promise<void> => {
    world.peer.notify("notifications/resources/updated", { uri: changed });
    await flushPromises();
  };
const change = update(`${uri}/part`);
const changeOfAnother = update(`${uri}0`);
const signIn = async (world: World): Promise<void> => {
  world.credentials.generation++;
};
const fill = async (world: World): Promise<void> => {
  for (let index = 0; index < 256; index++) await world.client.readResource(`b:${index}`);
};
const close = (world: World): Promise<void> => world.client.close();
const notRequested = "nothing was requested";
const ended = "the client is closed";

export const cache: StateTable<State, Event> = {
  machine: "Cache",
  file: "client/lists/cache.ts",
  states: {
    absent: "No result is cached.",
    requested: "A request is in flight whose result may be cached.",
    fresh: "A result is cached for its time (`ttlMs`).",
    expired: "The time of the cached result has ended. It is removed with the next read or insertion.",
    closed: "The client is closed.",
  },
  events: {
    read: "The resource or page is requested.",
    "result with a ttl": "The result arrives, with a positive `ttlMs`.",
    "result without a ttl": "The result arrives, without `ttlMs` or with 0.",
    "ttl ends": "The time of the cached result ends.",
    change: "The server reports a change of it or of a part of it, or a subscription was reopened.",
    "change of another": "The server reports a change of another resource or list.",
    "other credentials": "Requests are sent with other credentials. Public results are not affected.",
    full: "Other results fill the cache: 256 results, or 16 MiB.",
    "new session": "The connection is lost, and the next request opens another.",
    close: "The client is closed.",
  },
  cells: {
    absent: {
      read: cell("absent", "requested", "sends the request", requests),
      "result with a ttl": notRequested,
      "result without a ttl": notRequested,
      "ttl ends": "nothing is cached",
      change: cell("absent", "absent", "", change),
      "change of another": cell("absent", "absent", "", changeOfAnother),
      "other credentials": cell("absent", "absent", "", signIn),
      full: cell("absent", "absent", "", fill),
      "new session": cell("absent", "absent", "", (world) => world.lose()),
      close: cell("absent", "closed", "", close),
    },
    requested: {
      read: cell("requested", "requested", "sends another request", async (world) => {
        const first = world.reading;
        await requests(world);
        world.peer.answer(world.reads[0]!, { contents: [] });
        await first;
      }),
      "result with a ttl": cell(
        "requested",
        "fresh",
        "caches it",
        async (world) => void (await world.answer({ ttlMs })),
      ),
      "result without a ttl": cell("requested", "absent", "", async (world) => void (await world.answer({ ttlMs: 0 }))),
      "ttl ends": "the time counts from the arrival of the result",
      change: cell("requested", "absent", "the result will not be cached", async (world) => {
        await change(world);
        await world.answer({ ttlMs });
      }),
      "change of another": cell("requested", "requested", "", changeOfAnother),
      "other credentials": cell("requested", "absent", "the result will not be cached", async (world) => {
        await signIn(world);
        await world.answer({ ttlMs });
      }),
      full: cell("requested", "requested", "", async (world) => {
        world.hints = { ttlMs };
        await fill(world);
      }),
      "new session": cell("requested", "absent", "rejects the request", async (world) => {
        world.hints = { ttlMs };
        await world.lose();
        await expect(world.reading).rejects.toMatchObject({ code: "closed", data: { safeToRepeat: true } });
      }),
      close: cell("requested", "closed", "rejects the request with `closed`", async (world) => {
        await close(world);
        await expect(world.reading).rejects.toMatchObject({ code: "closed" });
      }),
    },
    fresh: {
      read: cell("fresh", "fresh", "returns a copy", (world) => expectReads(world, 0, () => world.read())),
      "result with a ttl": cell("fresh", "fresh", "replaces it, after a read with `fresh`", async (world) => {
        await world.clock.advance(ttlMs - 1);
        await expectReads(world, 1, () => world.client.readResource(uri, { fresh: true }));
        await world.clock.advance(ttlMs - 1);
      }),
      "result without a ttl": cell("fresh", "absent", "removes it, after a read with `fresh`", async (world) => {
        world.hints = { ttlMs: 0 };
        await world.client.readResource(uri, { fresh: true });
      }),
      "ttl ends": cell("fresh", "expired", "", (world) => world.clock.advance(ttlMs)),
      change: cell("fresh", "absent", "", change),
      "change of another": cell("fresh", "fresh", "", changeOfAnother),
      "other credentials": cell("fresh", "absent", "removes it with the next read", signIn),
      full: cell("fresh", "absent", "the least recently used are removed", fill),
      "new session": cell("fresh", "absent", "", (world) => world.lose()),
      close: cell("fresh", "closed", "", close),
    },
    expired: {
      read: cell("expired", "requested", "sends the request", requests),
      "result with a ttl": notRequested,
      "result without a ttl": notRequested,
      "ttl ends": "it has ended",
      change: cell("expired", "absent", "", change),
      "change of another": cell("expired", "expired", "", changeOfAnother),
      "other credentials": cell("expired", "absent", "", signIn),
      full: cell("expired", "absent", "removes it with the first insertion", fill),
      "new session": cell("expired", "absent", "", (world) => world.lose()),
      close: cell("expired", "closed", "", close),
    },
    closed: {
      read: cell("closed", "closed", "rejects with `closed`", async ({ client }) => {
        await expect(client.readResource(uri)).rejects.toMatchObject({ code: "closed" });
      }),
      "result with a ttl": ended,
      "result without a ttl": ended,
      "ttl ends": ended,
      change: ended,
      "change of another": ended,
      "other credentials": ended,
      full: ended,
      "new session": ended,
      close: cell("closed", "closed", "", close),
    },
  },
};
