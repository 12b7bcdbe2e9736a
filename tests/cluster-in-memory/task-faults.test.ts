import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import type { Context } from "../../packages/mcparley/src/server/core/context.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import type { RawMessage } from "../support/raw-message.ts";
import {
  type Operation,
  type StoreFault,
  type TaskProcess,
  faultyStore,
  startTaskProcess,
  storedTask,
} from "../support/task-processes.ts";

const lease = 6000;
const pollIntervalMs = 1000;
/** A task whose id was lost with the response waits for input, and occupies its slot, until this has passed. */
const ttlMs = 40_000;
const form = { message: "Who?", schema: { type: "object", properties: { name: { type: "string" } } } };
const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
const principal = { issuer: "https://i", subject: "ann", scopes: [] };
/** The maximum number of requests of a client that repeats failed ones. */
const patience = 100;

// These modules are loaded on first use. Loaded here, so that no run waits for them.
beforeAll(() =>
  Promise.all([
    import("../../packages/mcparley/src/server/input/elicit.ts"),
    import("../../packages/mcparley/src/schema/json-schema/compile.ts"),
  ]),
);

/** Two processes with one slot each, on one store. One of them has the faults. */
interface World {
  readonly clock: FakeClock;
  /** The store as the process with the faults sees it. */
  readonly store: Store & { readonly operations: readonly Operation[] };
  readonly shared: Store;
  readonly first: TaskProcess;
  readonly second: TaskProcess;
  /** Whether the first process ended. */
  isGone: boolean;
}

type Fault = (operation: Operation, world: World) => StoreFault | undefined;

/** A life of a task: its tool, the process with the faults, and whether the first process dies while the task waits for input. */
interface Life {
  tool: "once" | "again";
  faulty?: "first" | "second";
  diesWaiting?: boolean;
  /** The expected outcome. */
  outcome: RegExp;
  /** The maximum number of runs. */
  runs: number;
}

async function openWorld(fault: Fault, faulty: "first" | "second" = "first"): Promise<World> {
  const clock = fakeClock(1_000_000);
  const shared = memoryStore({ clock });
  const call = async (ctx: Context): Promise<string> => {
    ctx.progress(1, 2);
    const paid = await ctx.once("paid", () => "paid");
    const answer = await ctx.elicit(form as never);
    return `${paid} ${JSON.stringify(answer)}`;
  };
  const store = faultyStore(shared, (operation) => fault(operation, world));
  const options = { lease, pollIntervalMs, maxRunning: 1, maxRunningPerCaller: 1 };
  const common = { clock, call, options, settings: { ttlMs }, principal };
  const world: World = {
    clock,
    store,
    shared,
    isGone: false,
    first: await startTaskProcess({ ...common, store: faulty === "first" ? store : shared }),
    second: await startTaskProcess({ ...common, store: faulty === "second" ? store : shared }),
  };
  // The first request of any kind makes a process look for tasks of dead ones.
  await world.second.peer.request("tools/list");
  return world;
}

/** Sends a request. Returns undefined if no response comes until the next poll. */
async function ask(
  { clock }: World,
  to: TaskProcess,
  method: string,
  params: JsonObject,
): Promise<RawMessage | undefined> {
  let response: RawMessage | undefined;
  void to.peer.request(method, params).then((received) => (response = received));
  await flushPromises();
  if (!response) await clock.advance(pollIntervalMs);
  return response;
}

/** Creates a task and follows it to its end, with retries. Returns the last state of the task. */
async function follow(world: World, { tool, diesWaiting }: Life): Promise<{ states: string[]; task: JsonObject }> {
  const states: string[] = [];
  let taskId: string | undefined;
  for (let tries = 0; tries < patience; tries++) {
    const to = world.isGone ? world.second : world.first;
    if (taskId === undefined) {
      const begun = await ask(world, to, "tools/call", { name: tool, arguments: {} });
      states.push(begun?.result ? "created" : `refused: ${begun?.error.message ?? "no response"}`);
      taskId = begun?.result?.taskId as string | undefined;
    } else {
      const task = (await ask(world, to, "tasks/get", { taskId }))?.result;
      if (task) states.push(task.status as string);
      if (task && ["completed", "failed", "cancelled"].includes(task.status as string)) return { states, task };
      if (task?.status === "input_required" && diesWaiting && !world.isGone) {
        world.first.die();
        world.isGone = true;
      } else if (task?.status === "input_required") await ask(world, to, "tasks/update", { taskId, inputResponses });
    }
    await world.clock.advance(pollIntervalMs);
  }
  throw new Error(`The task did not end: ${states.slice(0, 10).join(", ")} ... ${states.at(-1)}`);
}

/** Asserts that the tasks left nothing in the store, and that the slot of each process is free. */
async function expectClean(world: World): Promise<void> {
  const { first, second, clock, shared, store } = world;
  // A task whose client never received its id ends as well: by its own process, or by one that takes it over.
  const ids = new Set(store.operations.flatMap(({ name }) => /^task-lease:(.*)/.exec(name)?.[1] ?? []));
  for (let waited = 0; waited < 20; waited++) {
    const open: JsonObject[] = [];
    for (const taskId of ids) {
      const record = await storedTask(shared, taskId);
      if (record && !/completed|failed|cancelled/.test(record.status as string)) open.push(record);
    }
    if (open.length === 0) break;
    if (waited === 19) throw new Error(`Tasks that never end: ${JSON.stringify(open)}`);
    for (const { taskId } of open) await ask(world, second, "tasks/update", { taskId, inputResponses });
    await clock.advance(lease);
  }
  // A process that had no connection to the store finds out with its next renewal. A lease that was not released expires.
  await clock.advance(lease);
  for (const taskId of ids) {
    expect(await shared.get(`mcparley:x:task-lease:${taskId}`), "the lease of a task that has ended").toBeUndefined();
  }
  if (!world.isGone) expect(first.running, "handlers that run").toBe(0);
  expect(second.running, "handlers that run in the other process").toBe(0);
  for (const one of world.isGone ? [second] : [first, second]) {
    const { result, error } = await one.call("once");
    expect(result?.resultType, error?.message).toBe("task");
    await one.peer.request("tasks/cancel", { taskId: result.taskId });
    await flushPromises();
  }
}

const completed = /^completed paid \{"name":"Ann"\}$/;

function describeOutcome({ status, result, error, statusMessage }: JsonObject): string {
  const content = (result as { content?: { text: string }[] } | undefined)?.content;
  return `${status as string} ${content?.[0]?.text ?? (error as { message?: string } | undefined)?.message ?? (statusMessage as string)}`;
}

/** Runs a task from start to end once for each operation of the store, with a fault at this operation. Returns the deviations. */
async function faultAtEach(life: Life, faultAt: (number: number) => Fault): Promise<string[]> {
  const undisturbed = await openWorld(() => undefined, life.faulty);
  await follow(undisturbed, life);
  const count = undisturbed.store.operations.length;
  expect(count).toBeGreaterThan(10);
  const problems = Array.from({ length: count }, async (_, index) => {
    let at = "";
    const fault = faultAt(index + 1);
    const world = await openWorld((operation, inWorld) => {
      if (operation.number === index + 1) at = `${operation.member} ${operation.name.replace(/:.*/, "")}`;
      return fault(operation, inWorld);
    }, life.faulty);
    try {
      const { task, states } = await follow(world, life);
      const outcome = describeOutcome(task);
      expect(outcome, states.join(", ")).toMatch(life.outcome);
      expect(world.first.started + world.second.started, "runs").toBeLessThanOrEqual(life.runs);
      await expectClean(world);
      return [];
    } catch (error) {
      return `operation ${index + 1} (${at}): ${(error as Error).message}`;
    }
  });
  return (await Promise.all(problems)).flat();
}

test("a task without faults completes in one run", async () => {
  const world = await openWorld(() => undefined);
  const { task, states } = await follow(world, { tool: "again", outcome: completed, runs: 1 });
  expect(describeOutcome(task)).toEqual('completed paid {"name":"Ann"}');
  expect([...new Set(states)]).toEqual(["created", "input_required", "completed"]);
  await expectClean(world);
});

/** All operations fail for a time, the first one after it has taken effect. */
const outage = (number: number, ms: number): Fault => {
  let until: number | undefined;
  return (operation, { clock }) => {
    if (operation.number >= number) until ??= clock.now() + ms;
    if (operation.number === number) return "after";
    return until !== undefined && clock.now() < until ? "before" : undefined;
  };
};

describe.each(["once", "again"] as const)(
  "a task of the tool %s ends, and releases its slot, run and lease, if",
  (tool) => {
    const crashed = /^failed The process that ran this task ended/;
    const oneOf = (...patterns: RegExp[]): RegExp => new RegExp(patterns.map(({ source }) => source).join("|"));

    test.each(["before", "after"] as const)("one operation of the store fails %s it takes effect", async (fault) => {
      const life: Life = { tool, outcome: completed, runs: 1 };
      expect(
        await faultAtEach(life, (number) => (operation) => (operation.number === number ? fault : undefined)),
      ).toEqual([]);
    });

    test("the store is unavailable from one operation on, for a time shorter than a lease", async () => {
      const life: Life = { tool, outcome: completed, runs: 1 };
      expect(await faultAtEach(life, (number) => outage(number, lease / 6))).toEqual([]);
    });

    test("one process has no connection to the store from one operation on, for a time longer than a lease", async () => {
      const outcome = tool === "again" ? completed : oneOf(completed, crashed);
      expect(await faultAtEach({ tool, outcome, runs: 3 }, (number) => outage(number, 2 * lease))).toEqual([]);
    });

    test("its process dies at an operation", async () => {
      const death =
        (number: number): Fault =>
        (operation, world) => {
          if (operation.number !== number) return world.isGone ? "hangs" : undefined;
          world.isGone = true;
          world.first.die();
          return "hangs";
        };
      const outcome = tool === "again" ? completed : oneOf(completed, crashed);
      expect(await faultAtEach({ tool, outcome, runs: 3 }, death)).toEqual([]);
    });

    test("its server is closed at an operation", async () => {
      const closing =
        (number: number): Fault =>
        (operation, world) => {
          if (operation.number !== number) return undefined;
          world.isGone = true;
          void world.first.server.close();
          return undefined;
        };
      const outcome = tool === "again" ? completed : oneOf(completed, /^failed The server was stopped/);
      expect(await faultAtEach({ tool, outcome, runs: 3 }, closing)).toEqual([]);
    });

    describe("its process dies and", () => {
      const life: Life = {
        tool,
        faulty: "second",
        diesWaiting: true,
        outcome: tool === "again" ? completed : crashed,
        runs: tool === "again" ? 2 : 1,
      };

      test.each(["before", "after"] as const)(
        "an operation of the process that takes it over fails %s it takes effect",
        async (fault) => {
          expect(
            await faultAtEach(life, (number) => (operation) => (operation.number === number ? fault : undefined)),
          ).toEqual([]);
        },
      );

      test.each([lease / 6, 2 * lease])(
        "the store is unavailable to the process that takes it over for %i ms",
        async (ms) => {
          expect(await faultAtEach(life, (number) => outage(number, ms))).toEqual([]);
        },
      );
    });
  },
);
