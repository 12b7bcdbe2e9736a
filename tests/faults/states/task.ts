import { expect } from "vitest";
import { LocalError, ProtocolError } from "../../../packages/mcparley/src/rpc/errors.ts";
import type { JsonObject } from "../../../packages/mcparley/src/rpc/messages.ts";
import type { Context } from "../../../packages/mcparley/src/server/core/context.ts";
import { memoryStore } from "../../../packages/mcparley/src/store/memory-store.ts";
import type { Store } from "../../../packages/mcparley/src/store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { toFetch } from "../../../packages/mcparley/src/http/fetch/to-fetch.ts";
import { rawHttp } from "../../support/raw-http.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import {
  type TaskProcess,
  faultyStore,
  startTaskProcess,
  storedTask,
  taskCapabilities,
} from "../../support/task-processes.ts";
import type { Cell, StateTable } from "./table.ts";

type State = "starting" | "working" | "waiting" | "storing" | "left" | "over" | "gone";
type Event =
  | "handler returns"
  | "handler throws"
  | "handler requests input"
  | "client responds"
  | "client cancels"
  | "store fails"
  | "store is back"
  | "server closes"
  | "process dies"
  | "other process reads"
  | "ttl passes";

const lease = 30_000;
const ttlMs = 90_000;
const form = { message: "Who?", schema: { type: "object", properties: { name: { type: "string" } } } };
const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };

/** A task of a tool with `runAgain`, its process `a`, and another process `b` of the same server. */
interface World {
  clock: FakeClock;
  shared: Store;
  a: TaskProcess;
  b: TaskProcess;
  taskId: string;
  /** The response to the call, once it is there. */
  response: RawMessage | undefined;
  /** Whether operations of `a` fail, or wait until this is reset. */
  storeOfA: "works" | "fails" | "hangs";
  /** The next action of the handler of `a`. */
  act(step: "ask" | "return" | "throw"): Promise<void>;
  /** The results of the handler's input requests. */
  answers: unknown[];
  signal: AbortSignal | undefined;
}

async function open(): Promise<World> {
  // These modules are loaded on the first input request. Loaded here, so that no test waits for them.
  await import("../../../packages/mcparley/src/server/input/elicit.ts");
  await import("../../../packages/mcparley/src/schema/json-schema/compile.ts");
  const clock = fakeClock(1_000_000);
  const shared = memoryStore({ clock });
  const steps: ((step: string) => void)[] = [];
  const call = async (ctx: Context): Promise<string> => {
    world.signal = ctx.signal;
    for (;;) {
      const step = await new Promise<string>((resolve) => steps.push(resolve));
      if (step === "return") return "done";
      if (step === "throw") throw new ProtocolError(-32000, "no disk");
      world.answers.push(await ctx.elicit(form as never).catch((error: Error) => error.message));
    }
  };
  const store = faultyStore(shared, () =>
    world.storeOfA === "works" ? undefined : world.storeOfA === "fails" ? "before" : "hangs",
  );
  const common = { clock, call, options: { lease, maxRunning: 1 }, settings: { ttlMs } };
  const world: World = {
    clock,
    shared,
    a: await startTaskProcess({ ...common, store }),
    b: await startTaskProcess({ ...common, store: shared }),
    taskId: "",
    response: undefined,
    storeOfA: "works",
    answers: [],
    signal: undefined,
    async act(step) {
      steps.shift()?.(step);
      await flushPromises();
    },
  };
  return world;
}

async function begin(world: World): Promise<World> {
  world.taskId = await world.a.begin("again");
  await flushPromises();
  return world;
}

/** Brings a task into a state. */
const reach: Record<State, () => Promise<World>> = {
  async starting() {
    const world = await open();
    world.storeOfA = "hangs";
    void world.a.call("again").then((response) => (world.response = response));
    await flushPromises();
    return world;
  },
  working: async () => begin(await open()),
  async waiting() {
    const world = await begin(await open());
    await world.act("ask");
    return world;
  },
  async storing() {
    const world = await begin(await open());
    world.storeOfA = "fails";
    await world.act("return");
    return world;
  },
  async left() {
    const world = await begin(await open());
    await world.a.server.close();
    return world;
  },
  async over() {
    const world = await begin(await open());
    await world.b.peer.request("tasks/cancel", { taskId: world.taskId });
    await flushPromises();
    return world;
  },
  async gone() {
    const world = await begin(await open());
    await world.clock.advance(ttlMs);
    return world;
  },
};

const statusOf = async ({ shared, taskId }: World): Promise<unknown> => (await storedTask(shared, taskId))?.status;
const get = ({ b, taskId }: World): Promise<JsonObject> => b.get(taskId);
const respond = ({ b, taskId }: World): Promise<RawMessage> =>
  b.peer.request("tasks/update", { taskId, inputResponses });
const cancel = ({ b, taskId }: World): Promise<RawMessage> => b.peer.request("tasks/cancel", { taskId });
const hasLease = async ({ shared, taskId }: World): Promise<boolean> =>
  (await shared.get(`mcparley:x:task-lease:${taskId}`)) !== undefined;

/** Asserts that process `a` may run one more task. */
async function expectFree({ a }: World): Promise<void> {
  const { result, error } = await a.call("once");
  expect(result?.resultType, error?.message).toBe("task");
}

/** Asserts that a task is in a state. */
const expectState: Record<State, (world: World) => Promise<void>> = {
  async starting({ response, a }) {
    expect(response).toBeUndefined();
    expect(a.started).toBe(0);
  },
  async working(world) {
    const { a, b } = world;
    expect(await statusOf(world)).toBe("working");
    expect((b.started > 0 ? b : a).running).toBe(1);
  },
  async waiting(world) {
    expect(await statusOf(world)).toBe("input_required");
    expect(world.a.running).toBe(1);
  },
  async storing(world) {
    expect(await statusOf(world)).toBe("working");
    expect(world.a.running).toBe(0);
    expect(await hasLease(world)).toBe(true);
  },
  async left(world) {
    expect(await statusOf(world)).toMatch(/working|input_required/);
    expect(world.b.running).toBe(0);
  },
  async over(world) {
    expect(await statusOf(world)).toMatch(/completed|failed|cancelled/);
    await world.clock.advance(lease);
    expect(await hasLease(world)).toBe(false);
  },
  async gone(world) {
    expect(await statusOf(world)).toBeUndefined();
    if (world.taskId !== "") expect((await get(world)).code).toBe(-32602);
  },
};

/** A cell whose test reaches the state, triggers the event, and asserts its effect and the next state. */
function cell(state: State, next: State, does: string, happen: (world: World) => unknown): Cell {
  return {
    next,
    does,
    async test() {
      const world = await reach[state]();
      await happen(world);
      await flushPromises();
      await expectState[next](world);
    },
  };
}

const hasEnded = "The handler has ended.";
const notStarted = "The handler has not started.";
const noHandler = "No handler runs.";
const unknownId = "No client knows the id.";
const isWaiting = "The handler waits for the response.";
const works = "The store works.";

const die = async (world: World): Promise<void> => {
  world.a.die();
  await world.clock.advance(lease);
};
const expire = ({ clock }: World): Promise<void> => clock.advance(ttlMs);
const discard = (state: State): Record<"handler returns" | "handler throws" | "handler requests input", Cell> => ({
  "handler returns": cell(state, state, "discards the result", (world) => world.act("return")),
  "handler throws": cell(state, state, "discards the error", (world) => world.act("throw")),
  "handler requests input": cell(state, state, "rejects the request", async (world) => {
    await world.act("ask");
    expect(world.answers).toEqual([(world.signal?.reason as Error | undefined)?.message]);
  }),
});

/** The life of a task on a server: the run in its process, and the record in the store. */
export const task: StateTable<State, Event> = {
  machine: "Task",
  file: "extensions/tasks/server/task-run.ts",
  states: {
    starting: "The call holds a place. There is no record yet, and the handler has not started.",
    working: "The record is `working`. A process runs the handler and renews the lease.",
    waiting: "The record is `input_required`. The handler waits for the response to an input request.",
    storing: "The handler has ended, and the store was unavailable, so that the record is still `working`.",
    left: "No process runs the task: its server was closed, or its process has died and the lease has expired.",
    over: "The record is `completed`, `failed` or `cancelled`, without the arguments and the caller. The place is free.",
    gone: "There is no record. The place is free.",
  },
  events: {
    "handler returns": "The handler returns a result.",
    "handler throws": "The handler throws a protocol error.",
    "handler requests input": "The handler calls `ctx.elicit`.",
    "client responds": "A client sends `tasks/update` with a response to any process.",
    "client cancels": "A client sends `tasks/cancel` to any process.",
    "store fails": "The store is unavailable to the process of the task.",
    "store is back": "The store is available again.",
    "server closes": "`server.close()` is called in the process of the task.",
    "process dies": "The process of the task ends without `server.close()`, and the lease expires.",
    "other process reads": "A client sends `tasks/get` to another process.",
    "ttl passes": "The ttl of the task passes, by the clock of the store.",
  },
  cells: {
    starting: {
      "handler returns": notStarted,
      "handler throws": notStarted,
      "handler requests input": notStarted,
      "client responds": unknownId,
      "client cancels": unknownId,
      "store fails": {
        next: "gone",
        does: "the call rejects with 503",
        async test() {
          const world = await open();
          world.storeOfA = "fails";
          expect((await world.a.call("again")).error).toMatchObject({ data: { retryAfter: 1 } });
          world.storeOfA = "works";
          await expectState.gone(world);
          await expectFree(world);
        },
      },
      "store is back": works,
      "server closes": {
        next: "gone",
        does: "deletes the record; the call rejects with 503",
        async test() {
          const world = await open();
          let enter!: () => void;
          let go!: () => void;
          const isReached = new Promise<void>((resolve) => (enter = resolve));
          const isFree = new Promise<void>((resolve) => (go = resolve));
          const slow: Store = {
            ...world.shared,
            async subscribe(...given) {
              enter();
              await isFree;
              return world.shared.subscribe(...given);
            },
          };
          const one = await startTaskProcess({ clock: world.clock, store: slow, call: () => "done" });
          const http = rawHttp("http://localhost/mcp", toFetch(one.server).fetch);
          const calling = http.modern(
            "tools/call",
            { name: "again", arguments: {} },
            { capabilities: taskCapabilities },
          );
          await isReached;
          const closing = one.server.close();
          await flushPromises();
          go();
          await closing;
          expect((await calling).status).toBe(503);
          expect(one.started).toBe(0);
        },
      },
      "process dies": cell("starting", "gone", "", die),
      "other process reads": unknownId,
      "ttl passes": "The ttl begins with the record.",
    },
    working: {
      "handler returns": cell("working", "over", "stores the result; `completed`", async (world) => {
        await world.act("return");
        expect(await get(world)).toMatchObject({ status: "completed", result: { content: [{ text: "done" }] } });
        await expectFree(world);
      }),
      "handler throws": cell("working", "over", "stores the error; `failed`", async (world) => {
        await world.act("throw");
        expect(await get(world)).toMatchObject({ status: "failed", error: { code: -32000 } });
        await expectFree(world);
      }),
      "handler requests input": cell("working", "waiting", "stores the request", (world) => world.act("ask")),
      "client responds": cell("working", "working", "ignores the response", async (world) => {
        expect((await respond(world)).result).toEqual(expect.any(Object));
      }),
      "client cancels": cell("working", "over", "aborts the signal; `cancelled`", async (world) => {
        await cancel(world);
        await flushPromises();
        expect(world.signal?.reason).toMatchObject({ message: "The task was cancelled." });
        await expectFree(world);
      }),
      "store fails": cell("working", "working", "reports the error once", async (world) => {
        world.storeOfA = "fails";
        await world.clock.advance(lease / 2);
        expect(world.a.errors.filter((error) => error instanceof LocalError)).toHaveLength(1 + 1);
      }),
      "store is back": cell("working", "working", "renews the lease", async (world) => {
        world.storeOfA = "fails";
        await world.clock.advance(lease / 2);
        world.storeOfA = "works";
        await world.clock.advance(lease);
        expect(await hasLease(world)).toBe(true);
      }),
      "server closes": cell(
        "working",
        "left",
        "aborts the signal; counts no crash. Without `runAgain`: `failed`",
        async (world) => {
          await world.a.server.close();
          expect(world.signal?.aborted).toBe(true);
          expect(await storedTask(world.shared, world.taskId)).toMatchObject({ run: "", crashes: 0 });
        },
      ),
      "process dies": cell("working", "left", "", die),
      "other process reads": cell("working", "working", "returns `working`", async (world) => {
        expect((await get(world)).status).toBe("working");
      }),
      "ttl passes": cell("working", "gone", "aborts the signal", async (world) => {
        await expire(world);
        expect(world.signal?.reason).toMatchObject({ message: "The ttl of the task has passed." });
        await world.act("return");
        await expectFree(world);
      }),
    },
    waiting: {
      "handler returns": isWaiting,
      "handler throws": isWaiting,
      "handler requests input": isWaiting,
      "client responds": cell("waiting", "working", "passes the response to the handler", async (world) => {
        await respond(world);
        await flushPromises();
        expect(world.answers).toEqual([{ name: "Ann" }]);
      }),
      "client cancels": cell("waiting", "over", "rejects the request; `cancelled`", async (world) => {
        await cancel(world);
        await flushPromises();
        expect(world.answers).toEqual(["The task was cancelled."]);
      }),
      "store fails": cell("waiting", "waiting", "", async (world) => {
        world.storeOfA = "fails";
        await world.clock.advance(lease / 2);
      }),
      "store is back": cell("waiting", "working", "reads the responses that it has missed", async (world) => {
        world.storeOfA = "fails";
        await respond(world);
        await flushPromises();
        expect(world.answers).toEqual([]);
        world.storeOfA = "works";
        await world.clock.advance(lease / 3);
        expect(world.answers).toEqual([{ name: "Ann" }]);
      }),
      "server closes": cell(
        "waiting",
        "left",
        "keeps the request open; counts no crash. Without `runAgain`: `failed`",
        async (world) => {
          await world.a.server.close();
          expect(await storedTask(world.shared, world.taskId)).toMatchObject({ status: "input_required", crashes: 0 });
        },
      ),
      "process dies": cell("waiting", "left", "keeps the request open", die),
      "other process reads": cell("waiting", "waiting", "returns the request", async (world) => {
        expect((await get(world)).inputRequests).toMatchObject({ "elicitation-1": { method: "elicitation/create" } });
      }),
      "ttl passes": cell("waiting", "gone", "rejects the request", async (world) => {
        await expire(world);
        expect(world.answers).toEqual(["The ttl of the task has passed."]);
      }),
    },
    storing: {
      "handler returns": hasEnded,
      "handler throws": hasEnded,
      "handler requests input": hasEnded,
      "client responds": cell("storing", "storing", "ignores the response", respond),
      "client cancels": cell("storing", "over", "discards the result; `cancelled`", async (world) => {
        await cancel(world);
        world.storeOfA = "works";
        await world.clock.advance(lease / 5);
        expect((await get(world)).status).toBe("cancelled");
      }),
      "store fails": cell("storing", "storing", "tries again five times per lease", ({ clock }) =>
        clock.advance(lease / 3),
      ),
      "store is back": cell("storing", "over", "stores the result; `completed`", async (world) => {
        world.storeOfA = "works";
        await world.clock.advance(lease / 5);
        expect((await get(world)).status).toBe("completed");
        await expectFree(world);
      }),
      "server closes": cell(
        "storing",
        "left",
        "reports that the result is lost. With a store: `completed`",
        async (world) => {
          await world.a.server.close();
          await world.clock.advance(lease);
        },
      ),
      "process dies": cell("storing", "left", "", die),
      "other process reads": cell("storing", "storing", "returns `working`", async (world) => {
        expect((await get(world)).status).toBe("working");
      }),
      "ttl passes": cell("storing", "gone", "discards the result", async (world) => {
        await expire(world);
        world.storeOfA = "works";
        await expectFree(world);
      }),
    },
    left: {
      "handler returns": noHandler,
      "handler throws": noHandler,
      "handler requests input": noHandler,
      "client responds": cell("left", "working", "starts a new run, which has the response", async (world) => {
        await respond(world);
        await flushPromises();
        expect(world.b.started).toBe(1);
      }),
      "client cancels": cell("left", "over", "`cancelled`", cancel),
      "store fails": "No process runs the task.",
      "store is back": works,
      "server closes": "No process runs the task.",
      "process dies": "No process runs the task.",
      "other process reads": cell(
        "left",
        "working",
        "starts a new run. After three crashes, or without `runAgain`: `failed`",
        async (world) => {
          expect((await get(world)).status).toBe("working");
          await flushPromises();
          expect(world.b.started).toBe(1);
        },
      ),
      "ttl passes": cell("left", "gone", "", async (world) => {
        // The other process would start a new run while it waits.
        world.b.die();
        await expire(world);
        expect(await statusOf(world)).toBeUndefined();
        world.taskId = "";
      }),
    },
    over: {
      ...discard("over"),
      "client responds": cell("over", "over", "ignores the response", respond),
      "client cancels": cell("over", "over", "has no effect. On 2025-11-25: rejects with -32602", async (world) => {
        expect((await cancel(world)).error).toBeUndefined();
      }),
      "store fails": "No process runs the task.",
      "store is back": works,
      "server closes": cell("over", "over", "", ({ a }) => a.server.close()),
      "process dies": cell("over", "over", "", die),
      "other process reads": cell("over", "over", "returns the outcome", async (world) => {
        expect((await get(world)).status).toBe("cancelled");
      }),
      "ttl passes": cell("over", "gone", "", expire),
    },
    gone: {
      ...discard("gone"),
      "client responds": cell("gone", "gone", "rejects with -32602", async (world) => {
        expect((await respond(world)).error.code).toBe(-32602);
      }),
      "client cancels": cell("gone", "gone", "rejects with -32602", async (world) => {
        expect((await cancel(world)).error.code).toBe(-32602);
      }),
      "store fails": "No process runs the task.",
      "store is back": works,
      "server closes": cell("gone", "gone", "", ({ a }) => a.server.close()),
      "process dies": cell("gone", "gone", "", die),
      "other process reads": cell("gone", "gone", "rejects with -32602", async (world) => {
        expect((await get(world)).code).toBe(-32602);
      }),
      "ttl passes": "The ttl has passed, or there was no task.",
    },
  },
};
