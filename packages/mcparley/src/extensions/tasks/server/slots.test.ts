import {
  type StoreFault,
  type TaskProcess,
  type TaskProcessInit,
  faultyStore,
  startTaskProcess,
  storedTask,
  taskCapabilities,
} from "mcparley-tests/support/task-processes.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { toFetch } from "../../../http/fetch/to-fetch.ts";
import { createServer } from "../../../server/create-server.ts";
import { tool } from "../../../server/definition.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { continueAsTask, tasks } from "./tasks.ts";

const lease = 30_000;
const ann = { issuer: "https://i", subject: "ann", scopes: [] };
const forever = (): Promise<never> => new Promise(() => {});

let clock: FakeClock;
let store: Store;

beforeEach(() => {
  clock = fakeClock(1_000_000);
  store = memoryStore({ clock });
});

const start = (init: Partial<TaskProcessInit>): Promise<TaskProcess> =>
  startTaskProcess({ clock, store, call: forever, ...init });
const count = (responses: { result?: unknown }[]): number => responses.filter(({ result }) => result).length;

describe("the limit of running tasks", () => {
  test.each([
    ["in total", { maxRunning: 5 }, {}],
    ["per caller", { maxRunningPerCaller: 5 }, { principal: ann }],
  ])("applies to concurrent calls: %s", async (_, options, who) => {
    const one = await start({ options, ...who });
    const responses = await Promise.all(Array.from({ length: 500 }, () => one.call()));
    expect(count(responses)).toBe(5);
    expect(one.started).toBe(5);
    expect(responses.at(-1)?.error).toMatchObject({ code: -32603, message: expect.stringContaining("Too many") });
  });

  test("admits the next call when a task has ended, has failed, was cancelled, or its ttl has passed", async () => {
    const ends: ((value: string | Error) => void)[] = [];
    const call = (): Promise<string> =>
      new Promise((resolve, reject) =>
        ends.push((value) => (typeof value === "string" ? resolve(value) : reject(value))),
      );
    const one = await start({ call, options: { maxRunning: 1 }, settings: { ttlMs: 60_000 } });
    await one.begin();
    ends[0]?.("done");
    await flushPromises();
    await one.begin();
    ends[1]?.(new Error("no disk"));
    await flushPromises();
    const taskId = await one.begin();
    expect(count([await one.call()])).toBe(0);
    await one.peer.request("tasks/cancel", { taskId });
    await flushPromises();
    await one.begin();
    await clock.advance(60_000);
    expect(count([await one.call()])).toBe(1);
  });

  test("applies to tasks that are continued because clients read them at the same time", async () => {
    const dead = await start({});
    const ids = await Promise.all(Array.from({ length: 20 }, () => dead.begin("again")));
    dead.die();
    await clock.advance(2 * lease);
    const next = await start({ options: { maxRunning: 3 } });
    const seen = await Promise.all(ids.map((taskId) => next.get(taskId)));
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set(["working"]));
    await flushPromises();
    expect(next.started).toBe(3);
    // The others wait for a place, here or in another process.
    const other = await start({ options: { maxRunning: 17 } });
    await Promise.all(ids.map((taskId) => other.get(taskId)));
    await flushPromises();
    expect(next.started).toBe(3);
    expect(other.started).toBe(17);
  });

  test("does not prevent the failure of tasks that cannot run again", async () => {
    const dead = await start({});
    const taskId = await dead.begin("once");
    dead.die();
    await clock.advance(2 * lease);
    const full = await start({ options: { maxRunning: 1 } });
    await full.begin();
    expect((await full.get(taskId)).status).toBe("failed");
  });
});

describe("a task whose start fails", () => {
  const steps: [what: string, member: keyof Store, name: RegExp][] = [
    ["its entry in the log", "append", /^tasks-begun/],
    ["its lease", "compareAndSet", /^task-lease/],
    ["its entry in the list", "append", /^tasks-of/],
    ["its subscription", "subscribe", /^task:/],
    ["its record", "set", /^task:/],
  ];

  test.each(steps.flatMap((step) => [[...step, "before"] as const, [...step, "after"] as const]))(
    "at %s (%s %s, %s it is done) releases its slot and leaves no data",
    async (_, member, name, fault: StoreFault) => {
      let isFailing = true;
      const faulty = faultyStore(store, (operation) =>
        isFailing && operation.member === member && name.test(operation.name) ? fault : undefined,
      );
      const one = await start({ store: faulty, options: { maxRunning: 1 }, principal: ann });
      expect((await one.call()).error).toMatchObject({ code: -32603, message: expect.stringContaining("store") });
      expect((await one.call()).error.message).not.toContain("Too many");
      const ids = faulty.operations.flatMap(({ name: key }) => /^task-lease:(.*)/.exec(key)?.[1] ?? []);
      for (const taskId of ids) {
        expect(await store.get(`mcparley:x:task:${taskId}`)).toBeUndefined();
        expect((await one.get(taskId)).code).toBe(-32602);
      }
      isFailing = false;
      expect(count([await one.call()])).toBe(1);
      expect(one.started).toBe(1);
    },
  );

  test("in another process too is left to the next one, without a lease and without a crash", async () => {
    const first = await start({});
    const taskId = await first.begin("again");
    await first.server.close();
    for (let process = 0; process < 4; process++) {
      let isFirst = true;
      const faulty = faultyStore(store, ({ member, name }) => {
        if (member !== "compareAndSet" || name !== `task:${taskId}` || !isFirst) return undefined;
        isFirst = false;
        return "after";
      });
      const one = await start({ store: faulty });
      expect((await one.get(taskId)).code).toBe(-32603);
      expect(one.started).toBe(0);
      expect(await store.get(`mcparley:x:task-lease:${taskId}`)).toBe(undefined);
    }
    expect(await storedTask(store, taskId)).toMatchObject({ run: "", crashes: 0 });
    const last = await start({});
    expect((await last.get(taskId)).status).toBe("working");
    await flushPromises();
    expect(last.started).toBe(1);
  });

  test("continues as an ordinary call if its handler requested the task and catches the error", async () => {
    let isFailing = true;
    const faulty = faultyStore(store, ({ member }) => (isFailing && member === "subscribe" ? "before" : undefined));
    const seen: unknown[] = [];
    const long = tool({
      call: async (_, ctx) => {
        seen.push(await continueAsTask(ctx).catch((error: Error) => error.message));
        isFailing = false;
        ctx.progress(1);
        seen.push(await continueAsTask(ctx));
        seen.push(await continueAsTask(ctx));
        return "done";
      },
    });
    const server = createServer({
      name: "x",
      version: "1",
      clock,
      store: faulty,
      tools: { long },
      extensions: [tasks()],
    });
    const peer = await rawPeer(server, { meta: modernMeta("2026-07-28", taskCapabilities) });
    const { result } = await peer.request("tools/call", { name: "long" });
    expect(result.resultType).toBe("task");
    await flushPromises();
    expect(seen).toEqual([expect.stringContaining("connection reset"), true, true]);
    const { taskId } = result;
    expect((await peer.request("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
  });
});

describe("a server that is closed", () => {
  test("while a task starts rejects the call and stores no task", async () => {
    let enter!: () => void;
    const isReached = new Promise<void>((resolve) => (enter = resolve));
    let open!: () => void;
    const isOpen = new Promise<void>((resolve) => (open = resolve));
    const slow: Store = {
      ...store,
      async subscribe(...given) {
        enter();
        await isOpen;
        return store.subscribe(...given);
      },
    };
    const written: string[] = [];
    const faulty = faultyStore(slow, ({ member, name }) => void (member === "set" && written.push(name)));
    const one = await start({ store: faulty, options: { maxRunning: 1 } });
    const endpoint = toFetch(one.server);
    const http = rawHttp("http://localhost/mcp", endpoint.fetch);
    const created = http.modern("tools/call", { name: "once", arguments: {} }, { capabilities: taskCapabilities });
    await isReached;
    const closing = one.server.close();
    await flushPromises();
    open();
    await closing;
    expect((await created).status).toBe(503);
    await endpoint.close();
    expect(one.started).toBe(0);
    expect(clock.pending).toBe(0);
    const key = written.find((name) => name.startsWith("task:"));
    expect(key).toEqual(expect.any(String));
    expect(await store.get(`mcparley:x:${key}`)).toBe(undefined);
  });

  test("starts no more tasks and continues no tasks of other processes", async () => {
    const dead = await start({});
    const taskId = await dead.begin("again");
    const one = await start({});
    const http = rawHttp("http://localhost/mcp", toFetch(one.server).fetch);
    const capabilities = taskCapabilities;
    const { status } = await http.modern("tools/call", { name: "plain", arguments: {} }, { capabilities });
    expect(status).toBe(200);
    dead.die();
    await clock.advance(lease + 1);
    await one.server.close();
    const refused = await http.modern("tools/call", { name: "once", arguments: {} }, { capabilities });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await refused.json()).error).toMatchObject({ message: expect.stringContaining("server is closing") });
    const shown = await http.modern("tasks/get", { taskId }, { capabilities, headers: { "mcp-name": taskId } });
    expect((await shown.json()).result).toMatchObject({ status: "working" });
    await flushPromises();
    expect(one.started).toBe(0);
  });
});
