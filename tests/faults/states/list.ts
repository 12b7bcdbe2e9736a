import { expect } from "vitest";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { LocalError } from "../../../packages/mcparley/src/rpc/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../../packages/mcparley/src/rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { modernPeer, peerTransports } from "../../../packages/mcparley/src/testing/peer-transports.ts";
import type { ScriptedPeer } from "../../../packages/mcparley/src/testing/scripted-peer.ts";
import type { Cell, StateTable } from "./table.ts";

type State = "unknown" | "listing" | "known" | "expired" | "unavailable" | "closed";
type Event =
  | "call"
  | "list"
  | "last page"
  | "refused"
  | "last call leaves"
  | "change"
  | "ttl ends"
  | "misfit"
  | "new session"
  | "close";

const ttlMs = 1000;
const page = {
  tools: [
    {
      name: "a",
      inputSchema: { type: "object" },
      outputSchema: { type: "object", properties: { sum: { type: "number" } } },
    },
  ],
  ttlMs,
};
const result: JsonObject = { content: [], structuredContent: { sum: 1 } };

/** A client over HTTP of a modern server, with one session after another. */
class World {
  readonly clock: FakeClock = fakeClock();
  readonly errors: Error[] = [];
  /** The tools that `confirm` received. */
  readonly confirmed: unknown[] = [];
  /** The requests that the server holds: all if set, so that the test answers them. */
  holdsLists = false;
  holdsCalls = false;
  lists: JsonRpcRequest[] = [];
  calls: JsonRpcRequest[] = [];
  /** The call that waits for the listing, and the means to abort it. */
  waiting: Promise<unknown> | undefined;
  readonly controller = new AbortController();
  client!: Client;
  readonly #peers: ScriptedPeer[] = [modernPeer(), modernPeer()];
  #current = 0;

  get peer(): ScriptedPeer {
    return this.#peers[this.#current]!;
  }

  async open(): Promise<void> {
    const transports = Object.assign(peerTransports(...this.#peers), { kind: "http" as const });
    for (const peer of this.#peers) void this.#serve(peer);
    this.client = await openClient(transports, {
      clock: this.clock,
      confirm: ({ tool }) => {
        this.confirmed.push(tool);
        return true;
      },
      onError: (error) => this.errors.push(error),
    });
  }

  async #serve(peer: ScriptedPeer): Promise<void> {
    for (;;) {
      const message = await peer.next();
      if (!("method" in message) || !("id" in message)) continue;
      const isList = message.method === "tools/list";
      (isList ? this.lists : this.calls).push(message);
      if (!(isList ? this.holdsLists : this.holdsCalls)) peer.answer(message, isList ? page : result);
    }
  }

  /** Calls the tool and waits until the call has no more to do before the server answers. */
  async call(): Promise<void> {
    this.waiting = this.client.callTool("a", {}, { signal: this.controller.signal });
    this.waiting.catch(() => {});
    await flushPromises();
  }

  /** Loses the session. The next call opens another. */
  async lose(): Promise<void> {
    const lost = this.peer;
    this.#current++;
    lost.close();
    await flushPromises();
  }
}

const bring: Record<State, (world: World) => Promise<void>> = {
  unknown: async () => {},
  async listing(world) {
    world.holdsLists = true;
    await world.call();
  },
  async known(world) {
    await world.client.listTools().all();
  },
  async expired(world) {
    await world.client.listTools().all();
    await world.clock.advance(ttlMs);
  },
  async unavailable(world) {
    await bring.listing(world);
    await refuse(world);
    world.holdsLists = false;
    world.errors.length = 0;
  },
  closed: (world) => world.client.close(),
};

/** Returns the state that the requests of the next call show. It changes the state, so it is the end of a test. */
async function stateOf(world: World): Promise<State> {
  if (world.client.state === "closed") return "closed";
  const waits = world.client.inFlight > 0;
  const before = world.lists.length;
  world.holdsCalls = false;
  world.confirmed.length = 0;
  const probe = world.client.callTool("a");
  await flushPromises();
  const isListed = world.lists.length > before;
  const isKnown = world.confirmed[0] !== undefined;
  if (!isListed && waits && world.client.inFlight > 0) {
    for (const request of world.lists) world.peer.answer(request, page);
    await probe;
    return "listing";
  }
  if (world.holdsLists) for (const request of world.lists.slice(before)) world.peer.answer(request, page);
  await probe;
  if (isListed) return isKnown ? "expired" : "unknown";
  return isKnown ? "known" : "unavailable";
}

/** Makes a cell: brings a client into the state, runs `act`, which asserts the effect, and checks the state that follows. */
function cell(from: State, next: State, does: string, act: (world: World) => Promise<void>): Cell {
  return {
    next,
    does,
    async test() {
      const world = new World();
      await world.open();
      await bring[from](world);
      await act(world);
      expect(await stateOf(world)).toBe(next);
      await world.client.close();
      expect(world.clock.pending).toBe(0);
    },
  };
}

async function refuse({ peer, lists }: World): Promise<void> {
  peer.refuse(lists.at(-1)!, { code: -32603, message: "no list" });
  await flushPromises();
}

/** Expects a number of requests for the list during `act`. */
async function expectLists(world: World, count: number, act: () => Promise<unknown>): Promise<void> {
  const before = world.lists.length;
  await act();
  expect(world.lists.length - before).toBe(count);
}

const change = async ({ peer }: World): Promise<void> => {
  peer.notify("notifications/tools/list_changed");
  await flushPromises();
};
const close = async (world: World): Promise<void> => {
  await world.client.close();
  await flushPromises();
  expect(world.client.inFlight).toBe(0);
};
const userLists = async (world: World): Promise<void> => {
  world.holdsLists = false;
  await expectLists(world, 1, () => world.client.listTools().all());
};
const startsListing = async (world: World): Promise<void> => {
  world.holdsLists = true;
  await expectLists(world, 1, () => world.call());
};
/** A call that was sent before is refused for its headers. */
const mismatch = async (world: World): Promise<void> => {
  world.holdsCalls = true;
  await world.call();
  const refused = world.calls.at(-1)!;
  world.holdsCalls = false;
  await expectLists(world, 1, async () => {
    world.peer.refuse(refused, { code: -32020, message: "Header mismatch" });
    await world.waiting;
  });
};
/** A result does not fit the listed schema. */
const misfit = async (world: World): Promise<void> => {
  world.holdsCalls = true;
  await world.call();
  await expectLists(world, 1, async () => {
    world.peer.answer(world.calls.at(-1)!, { content: [], structuredContent: { sum: "x" } });
    await expect(world.waiting).rejects.toMatchObject({ code: "invalid_result" });
  });
};

const noListing = "no listing is running";
const ended = "the client is closed";

export const list: StateTable<State, Event> = {
  machine: "List",
  file: "client/calls/known-tools.ts",
  states: {
    unknown: "No listing was read since the list changed. Single pages may be known.",
    listing: "A listing is running for the calls that wait for their tool.",
    known: "The whole list was read, and is fresh.",
    expired: "The time of the list (`ttlMs`) has ended.",
    unavailable: "The server refused the list. It is not requested again until it changes.",
    closed: "The client is closed.",
  },
  events: {
    call: "A tool is called over HTTP on 2026-07-28. Other calls need no list.",
    list: "The user reads the whole list.",
    "last page": "The last page of the running listing arrives.",
    refused: "The server refuses the running listing.",
    "last call leaves": "The last call that waits for the listing is aborted.",
    change: "The server reports that the list has changed, or a subscription was reopened.",
    "ttl ends": "The time of the list ends.",
    misfit: "A result does not fit the listed schema, or the server refuses the headers of a call.",
    "new session": "The connection is lost, and the next call opens another.",
    close: "The client is closed.",
  },
  cells: {
    unknown: {
      call: cell("unknown", "listing", "sends `tools/list`", startsListing),
      list: cell("unknown", "known", "sends `tools/list`", userLists),
      "last page": noListing,
      refused: noListing,
      "last call leaves": noListing,
      change: cell("unknown", "unknown", "", change),
      "ttl ends": "nothing was listed",
      misfit: "the headers and the schema of an unknown tool are not used",
      "new session": cell("unknown", "unknown", "", (world) => world.lose()),
      close: cell("unknown", "closed", "", close),
    },
    listing: {
      call: cell("listing", "listing", "waits for the same listing", async (world) => {
        await expectLists(world, 0, () => world.call());
        expect(world.calls.length).toBe(0);
      }),
      list: cell("listing", "known", "sends another `tools/list`", async (world) => {
        await userLists(world);
        world.peer.answer(world.lists[0]!, page);
        await world.waiting;
      }),
      "last page": cell("listing", "known", "sends the calls that wait", async (world) => {
        world.peer.answer(world.lists[0]!, page);
        await world.waiting;
      }),
      refused: cell("listing", "unavailable", "reports the error, sends the calls", async (world) => {
        await refuse(world);
        await world.waiting;
        expect(world.errors.map(({ message }) => message)).toEqual(["no list"]);
      }),
      "last call leaves": cell("listing", "unknown", "cancels the listing", async (world) => {
        world.controller.abort();
        await expect(world.waiting).rejects.toMatchObject({ code: "aborted" });
        await flushPromises();
        const { message } = world.peer.arrived.at(-1)!;
        expect(message).toMatchObject({ method: "notifications/cancelled", params: { requestId: world.lists[0]?.id } });
      }),
      change: cell("listing", "unknown", "the listing serves only the calls that wait", async (world) => {
        await change(world);
        await expectLists(world, 0, async () => {
          world.peer.answer(world.lists[0]!, page);
          await world.waiting;
        });
      }),
      "ttl ends": "the time counts from the arrival of a page",
      misfit: cell("listing", "known", "waits for the same listing", async (world) => {
        world.holdsLists = false;
        world.peer.answer(world.lists[0]!, page);
        await world.waiting;
        world.holdsCalls = true;
        await world.call();
        const [early, refused] = [world.waiting, world.calls.at(-1)!];
        await change(world);
        world.holdsLists = true;
        world.holdsCalls = false;
        await world.call();
        await expectLists(world, 0, async () => {
          world.peer.refuse(refused, { code: -32020, message: "Header mismatch" });
          await flushPromises();
        });
        world.peer.answer(world.lists.at(-1)!, page);
        await Promise.all([early, world.waiting]);
      }),
      "new session": cell("listing", "unknown", "sends the calls in the new session", async (world) => {
        await world.lose();
        await world.waiting;
        world.holdsLists = false;
      }),
      close: cell("listing", "closed", "rejects the calls with `closed`", async (world) => {
        await close(world);
        await expect(world.waiting).rejects.toMatchObject({ code: "closed" } satisfies Partial<LocalError>);
      }),
    },
    known: {
      call: cell("known", "known", "is sent without a listing", async (world) => {
        await expectLists(world, 0, async () => {
          await world.call();
          await world.waiting;
        });
      }),
      list: cell("known", "known", "sends `tools/list`, or reads the cache", async (world) => {
        await expectLists(world, 0, () => world.client.listTools().all());
        await expectLists(world, 1, () => world.client.listTools({ fresh: true }).all());
      }),
      "last page": noListing,
      refused: noListing,
      "last call leaves": noListing,
      change: cell("known", "unknown", "", change),
      "ttl ends": cell("known", "expired", "", (world) => world.clock.advance(ttlMs)),
      misfit: cell("known", "known", "sends `tools/list` once, then checks or sends again", async (world) => {
        await misfit(world);
        await mismatch(world);
      }),
      "new session": cell("known", "unknown", "", async (world) => {
        await world.lose();
        await world.client.ping();
      }),
      close: cell("known", "closed", "", close),
    },
    expired: {
      call: cell("expired", "listing", "sends `tools/list`", startsListing),
      list: cell("expired", "known", "sends `tools/list`", userLists),
      "last page": noListing,
      refused: noListing,
      "last call leaves": noListing,
      change: cell("expired", "unknown", "", change),
      "ttl ends": "it has ended",
      misfit: cell("expired", "known", "sends `tools/list` once, then checks or sends again", async (world) => {
        world.holdsCalls = true;
        await world.client.listTools().all();
        await world.call();
        await world.clock.advance(ttlMs);
        await expectLists(world, 1, async () => {
          world.peer.answer(world.calls.at(-1)!, { content: [], structuredContent: { sum: "x" } });
          await expect(world.waiting).rejects.toMatchObject({ code: "invalid_result" });
        });
      }),
      "new session": cell("expired", "unknown", "", async (world) => {
        await world.lose();
        await world.client.ping();
      }),
      close: cell("expired", "closed", "", close),
    },
    unavailable: {
      call: cell("unavailable", "unavailable", "is sent without a listing", async (world) => {
        await expectLists(world, 0, async () => {
          await world.call();
          await world.waiting;
        });
      }),
      list: cell("unavailable", "known", "sends `tools/list`", userLists),
      "last page": noListing,
      refused: noListing,
      "last call leaves": noListing,
      change: cell("unavailable", "unknown", "", change),
      "ttl ends": "nothing was listed",
      misfit: cell("unavailable", "known", "sends `tools/list` once, then sends again", mismatch),
      "new session": cell("unavailable", "unknown", "", async (world) => {
        await world.lose();
        await world.client.ping();
      }),
      close: cell("unavailable", "closed", "", close),
    },
    closed: {
      call: cell("closed", "closed", "rejects with `closed`", async ({ client }) => {
        await expect(client.callTool("a")).rejects.toMatchObject({ code: "closed" });
      }),
      list: cell("closed", "closed", "rejects with `closed`", async ({ client }) => {
        await expect(client.listTools().all()).rejects.toMatchObject({ code: "closed" });
      }),
      "last page": ended,
      refused: ended,
      "last call leaves": ended,
      change: ended,
      "ttl ends": ended,
      misfit: ended,
      "new session": ended,
      close: cell("closed", "closed", "", close),
    },
  },
};
