import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { fileStore } from "../../../node/file-store.ts";
import type { Context, Principal } from "../../../server/core/context.ts";
import { localUser } from "../../../server/core/principal.ts";
import { requireScopes } from "../../../server/core/scopes.ts";
import { tool } from "../../../server/definition.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { type RawPeer, modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { tasksId } from "../task.ts";
import { asTask, continueAsTask, tasks } from "./tasks.ts";

const meta = modernMeta("2026-07-28", { extensions: { [tasksId]: {} }, elicitation: { form: {} } });
const ann: Principal = { issuer: "https://i", subject: "ann", scopes: ["use"] };
const lease = 30_000;
const name = { message: "Who?", schema: z.object({ name: z.string() }) };

let clock: FakeClock;
let store: Store;
const onError = vi.fn();

beforeAll(() =>
  Promise.all([
    import("../../../server/input/elicit.ts"),
    import("../../../server/input/elicit.ts"),
    import("../../../server/features/subscriptions.ts"),
  ]),
);
beforeEach(() => {
  clock = fakeClock(1_000_000);
  store = memoryStore({ clock });
  onError.mockReset();
});

type Tools = Record<string, ReturnType<typeof tool>>;

/** A separate process, as far as tasks can observe. After `die`, none of its actions reach the store. */
function startProcess(tools: Tools, shared: Store = store): { server: Server; die: () => void } {
  let isDead = false;
  const guarded = new Proxy(shared, {
    get: (target, member: keyof Store) =>
      member === "close"
        ? async () => {}
        : (...args: never[]) =>
            isDead ? new Promise(() => {}) : (target[member] as (...all: never[]) => unknown)(...args),
  });
  const extensions = [tasks({ lease })];
  const server = createServer({ name: "x", version: "1", tools, clock, onError, store: guarded, extensions });
  return { server, die: () => (isDead = true) };
}

const peerOf = (server: Server, principal: Principal = ann): Promise<RawPeer> =>
  rawPeer({ attach: (transport) => server.attach(transport, { principal }) }, { meta });
const begin = async (peer: RawPeer, tool_ = "t"): Promise<unknown> =>
  (await peer.request("tools/call", { name: tool_, arguments: {} })).result.taskId;
const get = async (peer: RawPeer, taskId: unknown) => {
  await flushPromises();
  return (await peer.request("tasks/get", { taskId })).result;
};

const forever = (): Promise<never> => new Promise(() => {});

describe("a task whose process has died", () => {
  test("is working until its lease expires, and then fails with the reason", async () => {
    const tools = { t: tool({ extensions: [asTask()], call: forever }) };
    const first = startProcess(tools);
    const taskId = await begin(await peerOf(first.server));
    await clock.advance(3 * lease);
    const second = await peerOf(startProcess(tools).server);
    expect((await get(second, taskId)).status).toBe("working");
    first.die();
    await clock.advance(lease - 1);
    expect((await get(second, taskId)).status).toBe("working");
    await clock.advance(lease);
    const failed = await get(second, taskId);
    expect(failed).toMatchObject({
      status: "failed",
      statusMessage: expect.stringContaining("process that ran this task ended") as string,
      error: { code: -32603 },
    });
    expect(await get(second, taskId)).toEqual(failed);
  });

  test("runs again from the top if runAgain is set, with its input responses, its caller, and its recorded values", async () => {
    const steps: unknown[] = [];
    const tools = {
      t: tool({
        extensions: [asTask({ runAgain: true })],
        call: async (_, ctx) => {
          steps.push(["run", ctx.principal?.subject, ctx.peer.info?.name]);
          const first = await ctx.elicit(name);
          const order = await ctx.once("order", () => {
            steps.push("ordered");
            return 42;
          });
          expect(await continueAsTask(ctx)).toBe(true);
          const second = await ctx.elicit({ ...name, message: "And who else?" });
          return `${first.name}, ${second.name}: ${order}`;
        },
      }),
    };
    const dying = startProcess(tools);
    const peer = await peerOf(dying.server);
    const taskId = await begin(peer);
    await flushPromises();
    const answer = (who: string): object => ({ action: "accept", content: { name: who } });
    await peer.request("tasks/update", { taskId, inputResponses: { "elicitation-1": answer("Ann") } });
    expect(Object.keys((await get(peer, taskId)).inputRequests as object)).toEqual(["elicitation-2"]);
    dying.die();
    await clock.advance(2 * lease);

    const second = await peerOf(startProcess(tools).server);
    // The same input request keeps its id.
    expect(await get(second, taskId)).toMatchObject({ status: "input_required" });
    expect(Object.keys((await get(second, taskId)).inputRequests as object)).toEqual(["elicitation-2"]);
    await second.request("tasks/update", { taskId, inputResponses: { "elicitation-2": answer("Bob") } });
    expect(await get(second, taskId)).toMatchObject({
      status: "completed",
      result: { content: [{ text: "Ann, Bob: 42" }] },
    });
    expect(steps).toEqual([["run", "ann", "raw-peer"], "ordered", ["run", "ann", "raw-peer"]]);
  });

  test("runs again with all scopes if the local user has created it", async () => {
    const runs: boolean[] = [];
    const tools = {
      t: tool({
        scopes: ["use"],
        extensions: [asTask({ runAgain: true })],
        call: async (_, { principal }) => {
          requireScopes(["any"], principal);
          runs.push(principal!.scopes.includes("other"));
          return runs.length === 1 ? forever() : "done";
        },
      }),
    };
    const dying = startProcess(tools);
    const taskId = await begin(await peerOf(dying.server, localUser));
    await flushPromises();
    dying.die();
    await clock.advance(2 * lease);
    const second = await peerOf(startProcess(tools).server, localUser);
    expect(await get(second, taskId)).toMatchObject({ status: "working" });
    expect(await get(second, taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "done" }] } });
    expect(runs).toEqual([true, true]);
  });

  test("receives a response that was sent while no process ran the task", async () => {
    const tools = {
      t: tool({ extensions: [asTask({ runAgain: true })], call: async (_, ctx) => (await ctx.elicit(name)).name }),
    };
    const dying = startProcess(tools);
    const taskId = await begin(await peerOf(dying.server));
    await flushPromises();
    dying.die();
    await clock.advance(2 * lease);
    const second = await peerOf(startProcess(tools).server);
    const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
    await second.request("tasks/update", { taskId, inputResponses });
    expect(await get(second, taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "Ann" }] } });
  });

  test("receives a response that was sent before the new run repeated the input request", async () => {
    const gates: (() => void)[] = [];
    const tools = {
      t: tool({
        extensions: [asTask({ runAgain: true })],
        call: async (_, ctx) => {
          await new Promise<void>((resolve) => gates.push(resolve));
          return (await ctx.elicit(name)).name;
        },
      }),
    };
    const dying = startProcess(tools);
    const first = await peerOf(dying.server);
    const taskId = await begin(first);
    await flushPromises();
    gates[0]?.();
    expect((await get(first, taskId)).status).toBe("input_required");
    dying.die();
    await clock.advance(2 * lease);
    const second = await peerOf(startProcess(tools).server);
    expect((await get(second, taskId)).status).toBe("input_required");
    const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
    await second.request("tasks/update", { taskId, inputResponses });
    expect((await get(second, taskId)).status).toBe("working");
    gates[1]?.();
    expect(await get(second, taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "Ann" }] } });
  });

  test.each(["taken over", "cancelled"])(
    "cannot be changed by its old run, which missed that it was %s",
    async (what) => {
      let finish!: (value: string) => void;
      const tools = {
        t: tool({
          extensions: [asTask({ runAgain: true })],
          call: () => new Promise<string>((resolve) => (finish = resolve)),
        }),
      };
      const deaf: Store = { ...store, subscribe: async () => async () => {} };
      const taskId = await begin(await peerOf(startProcess(tools, deaf).server));
      await flushPromises();
      const finishFirst = finish;
      const second = await peerOf(
        startProcess({ t: tool({ extensions: [asTask({ runAgain: true })], call: forever }) }).server,
      );
      if (what === "cancelled") await second.request("tasks/cancel", { taskId });
      else await store.delete(`mcparley:x:task-lease:${String(taskId)}`);
      const status = what === "cancelled" ? "cancelled" : "working";
      expect((await get(second, taskId)).status).toBe(status);
      finishFirst("stale");
      await flushPromises();
      expect((await get(second, taskId)).status).toBe(status);
    },
  );

  test("is continued by exactly one of several concurrent processes", async () => {
    let runs = 0;
    const tools = {
      t: tool({
        extensions: [asTask({ runAgain: true })],
        call: () => {
          runs++;
          return forever();
        },
      }),
    };
    const dying = startProcess(tools);
    const taskId = await begin(await peerOf(dying.server));
    dying.die();
    await clock.advance(2 * lease);
    const peers = await Promise.all([1, 2, 3].map(() => peerOf(startProcess(tools).server)));
    const seen = await Promise.all([...peers, ...peers].map((peer) => get(peer, taskId)));
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set(["working"]));
    await flushPromises();
    expect(runs).toBe(2);
  });

  test("fails after three runs if each of its processes dies", async () => {
    let runs = 0;
    const tools = {
      t: tool({
        extensions: [asTask({ runAgain: true })],
        call: () => {
          runs++;
          return forever();
        },
      }),
    };
    let current = startProcess(tools);
    const taskId = await begin(await peerOf(current.server));
    const seen: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      current.die();
      await clock.advance(2 * lease);
      current = startProcess(tools);
      seen.push((await get(await peerOf(current.server), taskId)).status);
    }
    expect(seen).toEqual(["working", "working", "failed", "failed"]);
    expect(runs).toBe(3);
  });

  describe("that runs again and", () => {
    /** Kills the process of a task, starts another one, and returns the status of the task there. */
    const restart = async (current: ReturnType<typeof startProcess>, tools: Tools, taskId: unknown) => {
      await flushPromises();
      current.die();
      await clock.advance(2 * lease);
      const next = startProcess(tools);
      const peer = await peerOf(next.server);
      return { next, peer, status: (await get(peer, taskId)).status };
    };
    const stored = async (taskId: unknown) => JSON.parse((await store.get(`mcparley:x:task:${String(taskId)}`))!);
    const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
    const settings = { extensions: [asTask({ runAgain: true })] };

    test("only waits for a person survives any number of deaths", async () => {
      const tools = { t: tool({ ...settings, call: async (_, ctx) => (await ctx.elicit(name)).name }) };
      let current = startProcess(tools);
      const taskId = await begin(await peerOf(current.server));
      let peer!: RawPeer;
      for (let death = 0; death < 8; death++) {
        const restarted = await restart(current, tools, taskId);
        expect(restarted.status).toBe("input_required");
        expect((await stored(taskId)).crashes).toBe(0);
        ({ next: current, peer } = restarted);
      }
      await flushPromises();
      await peer.request("tasks/update", { taskId, inputResponses });
      expect(await get(peer, taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "Ann" }] } });
      expect(Object.keys(await stored(taskId))).not.toContain("waitingRun");
    });

    test("waits at first fails after three deaths before a later run waits again", async () => {
      let canWait = true;
      const call = async (_: object, ctx: Context) => (canWait ? (await ctx.elicit(name)).name : forever());
      const tools = { t: tool({ ...settings, call }) };
      let current = startProcess(tools);
      const taskId = await begin(await peerOf(current.server));
      await flushPromises();
      canWait = false;
      const seen: unknown[] = [];
      for (let death = 0; death < 4; death++) {
        const { next, status } = await restart(current, tools, taskId);
        seen.push(status, (await stored(taskId)).crashes);
        current = next;
      }
      // The first death was during the wait. The request of that run stays open.
      expect(seen).toEqual(["input_required", 0, "input_required", 1, "input_required", 2, "failed", 2]);
    });

    test("works after a response fails at the third death from then on", async () => {
      let isWorking = true;
      const call = async (_: object, ctx: Context) => {
        if (isWorking) await forever();
        const answer = await ctx.elicit(name);
        isWorking = true;
        await forever();
        return answer.name;
      };
      const tools = { t: tool({ ...settings, call }) };
      let current = startProcess(tools);
      const taskId = await begin(await peerOf(current.server));
      for (let death = 0; death < 2; death++) {
        if (death === 1) isWorking = false;
        ({ next: current } = await restart(current, tools, taskId));
      }
      await flushPromises();
      expect(await stored(taskId)).toMatchObject({ status: "input_required", crashes: 2 });
      await (await peerOf(current.server)).request("tasks/update", { taskId, inputResponses });
      expect(await stored(taskId)).toMatchObject({ status: "working", crashes: 0 });
      const seen: unknown[] = [];
      for (let death = 0; death < 3; death++) {
        const restarted = await restart(current, tools, taskId);
        current = restarted.next;
        seen.push(restarted.status);
      }
      expect(seen).toEqual(["working", "working", "failed"]);
    });

    test.each([
      ["more than any earlier run", (run: number) => run, Array.from({ length: 6 }, () => "working")],
      ["the same as earlier runs", () => 1, ["working", "working", "failed"]],
      ["less than an earlier run", (run: number) => -run, ["working", "working", "failed"]],
    ])("reports %s before each death", async (_, progressOf, expected) => {
      let runs = 0;
      const call = async (__: object, ctx: Context) => {
        ctx.progress(progressOf(++runs));
        return forever();
      };
      const tools = { t: tool({ ...settings, call }) };
      let current = startProcess(tools);
      const taskId = await begin(await peerOf(current.server));
      const seen: unknown[] = [];
      for (const __ of expected) {
        const restarted = await restart(current, tools, taskId);
        current = restarted.next;
        seen.push(restarted.status);
      }
      expect(seen).toEqual(expected);
    });
  });

  test("is not failed by a process that read it before another one took it over and left it again", async () => {
    const tools = { t: tool({ extensions: [asTask()], call: forever }) };
    const first = startProcess(tools);
    const taskId = await begin(await peerOf(first.server));
    first.die();
    await clock.advance(lease);
    const taskKey = `mcparley:x:task:${String(taskId)}`;
    const takeOver = async (): Promise<void> => {
      const record = JSON.parse((await store.get(taskKey))!);
      await store.set(taskKey, JSON.stringify({ ...record, run: "another run" }), { ttl: lease });
    };
    const late: Store = {
      ...store,
      compareAndSet: async (key, ...change) => {
        if (key.includes(":task-lease:") && change[0] === undefined) await takeOver();
        return store.compareAndSet(key, ...change);
      },
    };
    const second = await peerOf(startProcess(tools, late).server);
    expect((await get(second, taskId)).status).toBe("working");
    expect(JSON.parse((await store.get(taskKey))!).run).toBe("another run");
  });

  test("cannot be overwritten by its old process, if that was only slow", async () => {
    let finish!: (value: string) => void;
    const aborted = vi.fn();
    const slow = {
      t: tool({
        extensions: [asTask({ runAgain: true })],
        call: (_, ctx) => {
          ctx.signal.addEventListener("abort", () => aborted(ctx.signal.reason));
          return new Promise<string>((resolve) => (finish = resolve));
        },
      }),
    };
    const first = startProcess(slow);
    const taskId = await begin(await peerOf(first.server));
    await flushPromises();
    const finishFirst = finish;
    // The process sleeps: its lease expires, although it is not dead.
    await store.delete(`mcparley:x:task-lease:${String(taskId)}`);
    const second = await peerOf(
      startProcess({ t: tool({ extensions: [asTask({ runAgain: true })], call: forever }) }).server,
    );
    expect((await get(second, taskId)).status).toBe("working");
    await flushPromises();
    expect(aborted).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining("took over the task") as string }),
    );
    finishFirst("stale");
    await clock.advance(lease);
    expect((await get(second, taskId)).status).toBe("working");
  });
});

describe("closing a server", () => {
  test("fails the tasks that cannot run again, and releases the others to the next process immediately", async () => {
    const signals: AbortSignal[] = [];
    const call = (_: object, ctx: Context): Promise<never> => {
      signals.push(ctx.signal);
      return forever();
    };
    const tools = {
      once: tool({ extensions: [asTask()], call }),
      again: tool({ extensions: [asTask({ runAgain: true })], call }),
    };
    const { server } = startProcess(tools);
    const peer = await peerOf(server);
    const once = await begin(peer, "once");
    const again = await begin(peer, "again");
    await server.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(clock.pending).toBe(0);
    const next = await peerOf(startProcess(tools).server);
    expect(await get(next, once)).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("stopped") as string },
    });
    expect((await get(next, again)).status).toBe("working");
    await flushPromises();
    expect(signals).toHaveLength(3);
  });
});

describe("the search for dead processes", () => {
  const tools = { t: tool({ extensions: [asTask()], call: forever }) };
  const statusOf = async (taskId: unknown): Promise<unknown> =>
    JSON.parse((await store.get(`mcparley:x:task:${String(taskId)}`)) ?? "{}").status;

  test("finds the tasks of a process that was considered dead before it began them", async () => {
    let isAway = false;
    const away = new Proxy(store, {
      get:
        (target, member: keyof Store) =>
        (...given: never[]) =>
          isAway
            ? Promise.reject(new Error("store down"))
            : (target[member] as (...all: never[]) => Promise<unknown>)(...given),
    });
    const quick = { ...tools, quick: tool({ extensions: [asTask()], call: () => "done" }) };
    const first = startProcess(quick, away);
    const second = startProcess(tools);
    await (await peerOf(second.server)).request("tools/list");
    const peer = await peerOf(first.server);
    await begin(peer, "quick");
    isAway = true;
    await clock.advance(3 * lease);
    isAway = false;
    await clock.advance(lease);
    const taskId = await begin(peer);
    await flushPromises();
    first.die();
    await clock.advance(3 * lease);
    expect(await statusOf(taskId)).toBe("failed");
  });

  test("lists each process once, also if an entry was stored and its reply was lost", async () => {
    let isFirst = true;
    const losing: Store = {
      ...store,
      async compareAndSet(key, ...rest) {
        const done = await store.compareAndSet(key, ...rest);
        if (!key.endsWith(":task-runners") || !isFirst) return done;
        isFirst = false;
        throw new Error("store down");
      },
    };
    const peer = await peerOf(startProcess(tools, losing).server);
    expect((await peer.request("tools/call", { name: "t" })).error.message).toContain("store");
    await begin(peer);
    expect(JSON.parse((await store.get("mcparley:x:task-runners")) ?? "[]")).toHaveLength(1);
  });
});

describe("an orderly end of a process", () => {
  const call = async (_: object, ctx: Context): Promise<string> => (await ctx.elicit(name)).name;
  const tools = { t: tool({ extensions: [asTask({ runAgain: true })], call }) };
  const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };

  test("does not count as a crash: a task may be restarted any number of times while it waits for input", async () => {
    let current = startProcess(tools);
    const taskId = await begin(await peerOf(current.server));
    for (let restart = 0; restart < 10; restart++) {
      await flushPromises();
      await current.server.close();
      current = startProcess(tools);
      expect((await get(await peerOf(current.server), taskId)).status).toBe("input_required");
    }
    await flushPromises();
    const peer = await peerOf(current.server);
    await peer.request("tasks/update", { taskId, inputResponses });
    expect(await get(peer, taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "Ann" }] } });
    expect(onError).not.toHaveBeenCalled();
  });

  test("does not count as a crash while the handler runs, and crashes are counted on", async () => {
    const busy = { t: tool({ extensions: [asTask({ runAgain: true })], call: forever }) };
    let current = startProcess(busy);
    const taskId = await begin(await peerOf(current.server));
    const seen: unknown[] = [];
    for (const end of ["close", "crash", "close", "crash", "close", "close", "crash"]) {
      await flushPromises();
      if (end === "close") await current.server.close();
      else {
        current.die();
        await clock.advance(2 * lease);
      }
      current = startProcess(busy);
      seen.push((await get(await peerOf(current.server), taskId)).status);
    }
    expect(seen).toEqual([...Array.from({ length: 6 }, () => "working"), "failed"]);
  });

  test("releases the task to a process that is closed before its handler starts", async () => {
    let current = startProcess(tools);
    const taskId = await begin(await peerOf(current.server));
    for (let restart = 0; restart < 5; restart++) {
      await flushPromises();
      await current.server.close();
      current = startProcess(tools);
      const peer = await peerOf(current.server);
      void peer.request("tasks/get", { taskId });
      await Promise.resolve();
    }
    await flushPromises();
    await current.server.close();
    expect((await get(await peerOf(startProcess(tools).server), taskId)).status).toBe("input_required");
  });

  test("stores an outcome that could not be stored before", async () => {
    let isDown = false;
    const flaky: Store = {
      ...store,
      compareAndSet: (key, ...rest) =>
        isDown && key.includes(":task:") ? Promise.reject(new Error("store down")) : store.compareAndSet(key, ...rest),
    };
    let finish!: (value: string) => void;
    const own = {
      t: tool({ extensions: [asTask()], call: () => new Promise<string>((resolve) => (finish = resolve)) }),
    };
    const { server } = startProcess(own, flaky);
    const taskId = await begin(await peerOf(server));
    isDown = true;
    finish("done");
    await flushPromises();
    isDown = false;
    await server.close();
    expect(clock.pending).toBe(0);
    expect(await get(await peerOf(startProcess(own).server), taskId)).toMatchObject({ status: "completed" });
  });
});

describe("a store in files", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "mcparley-tasks-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("keeps results across a restart", async () => {
    const tools = { t: tool({ extensions: [asTask()], call: () => "kept" }) };
    const before = fileStore(folder, { clock });
    const peer = await peerOf(startProcess(tools, before).server);
    const taskId = await begin(peer);
    await expect.poll(async () => (await get(peer, taskId)).status).toBe("completed");
    await before.close();
    const after = fileStore(folder, { clock });
    const second = await peerOf(startProcess(tools, after).server);
    expect(await get(second, taskId)).toMatchObject({ result: { content: [{ text: "kept" }] } });
    await after.close();
  });
});

test("retries to store an outcome while the store is unavailable, and reports the error", async () => {
  let isDown = false;
  const flaky: Store = {
    ...store,
    compareAndSet: (key, ...rest) =>
      isDown && key.includes(":task:") ? Promise.reject(new Error("store down")) : store.compareAndSet(key, ...rest),
  };
  let finish!: (value: string) => void;
  const server = startProcess(
    { t: tool({ extensions: [asTask()], call: () => new Promise<string>((resolve) => (finish = resolve)) }) },
    flaky,
  ).server;
  const peer = await peerOf(server);
  const taskId = await begin(peer);
  isDown = true;
  finish("done");
  await flushPromises();
  expect(onError.mock.lastCall?.[0]).toMatchObject({ code: "store_unavailable", cause: { message: "store down" } });
  isDown = false;
  await clock.advance(lease / 5);
  expect(await get(peer, taskId)).toMatchObject({ status: "completed" });
});
