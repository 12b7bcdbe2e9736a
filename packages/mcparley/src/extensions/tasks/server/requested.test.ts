import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ProtocolError } from "../../../rpc/errors.ts";
import { ToolError } from "../../../mcp/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import type { Principal } from "../../../server/core/context.ts";
import { image } from "../../../server/features/content.ts";
import { tool } from "../../../server/definition.ts";
import type { AnyServerDefinition } from "../../../server/core/options.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { tasksId } from "../task.ts";
import { asTask, continueAsTask, tasks } from "./tasks.ts";
import type { TasksOptions } from "./settings.ts";

/** The timer that each server has: it looks for tasks of dead processes. */
const sweeping = 1;

const revision = "2025-11-25";
const related = "io.modelcontextprotocol/related-task";
const ann: Principal = { issuer: "https://i", subject: "ann", scopes: [] };

let clock: FakeClock;
let finish: (value: string) => void;

beforeAll(() =>
  Promise.all([
    import("../../../server/input/elicit.ts"),
    import("../../../server/input/elicit.ts"),
    import("../../../server/features/subscriptions.ts"),
  ]),
);
beforeEach(() => {
  clock = fakeClock(Date.parse("2026-11-20T10:00:00Z"));
});

function serve(options: Partial<TasksOptions> = {}, more: Pick<AnyServerDefinition, "store" | "onError"> = {}): Server {
  return createServer({
    name: "x",
    version: "1",
    clock,
    limits: { pageSize: 2 },
    extensions: [tasks(options)],
    ...more,
    tools: {
      wait: tool({ extensions: [asTask()], call: () => new Promise<string>((resolve) => (finish = resolve)) }),
      must: tool({ extensions: [asTask({ support: "required" })], call: () => "done" }),
      plain: tool({ call: async (_, ctx) => `plain ${await continueAsTask(ctx)}` }),
      decides: tool({
        extensions: [asTask({ start: "handler" })],
        call: async (_, ctx) => `${await continueAsTask(ctx)}`,
      }),
      picky: tool({ input: z.object({ n: z.number() }), extensions: [asTask()], call: () => "x" }) as never,
      tool: tool({
        extensions: [asTask()],
        call: () => {
          throw new ToolError("no luck");
        },
      }),
      protocol: tool({
        extensions: [asTask()],
        call: () => {
          throw new ProtocolError(-32000, "no disk");
        },
      }),
      ask: tool({
        extensions: [asTask()],
        call: async (_, ctx) => {
          const { name } = await ctx.elicit({ message: "Who?", schema: z.object({ name: z.string() }) });
          return [`Hello, ${name}!`, image("aGk=", "image/png")];
        },
      }),
    },
  });
}

async function session(
  server: Server,
  options: { version?: string; principal?: Principal; capabilities?: JsonObject } = {},
): Promise<{ peer: RawPeer; opened: JsonObject }> {
  const { version = revision, principal, capabilities = { elicitation: {} } } = options;
  const attach: Server["attach"] = (transport) => server.attach(transport, principal ? { principal } : {});
  const peer = await rawPeer({ attach });
  return { peer, opened: await openSession(peer, version, capabilities) };
}

const begin = async (peer: RawPeer, name: string, more: JsonObject = {}) =>
  (await peer.request("tools/call", { name, arguments: {}, task: {}, ...more })).result as { task: JsonObject };
const idOf = async (peer: RawPeer, name: string): Promise<unknown> => (await begin(peer, name)).task.taskId;

describe("declarations", () => {
  test("declare the capability of 2025-11-25, with the list if the caller is authenticated", async () => {
    const declared = { cancel: {}, requests: { tools: { call: {} } } };
    const { opened } = await session(serve());
    expect(opened.capabilities).toMatchObject({ tasks: declared });
    expect(opened.capabilities).not.toHaveProperty("tasks.list");
    expect(opened.capabilities).not.toHaveProperty("extensions");
    const known = await session(serve(), { principal: ann });
    expect(known.opened.capabilities).toMatchObject({ tasks: { ...declared, list: {} } });
    const single = await session(serve({ listForAnyone: true }));
    expect(single.opened.capabilities).toMatchObject({ tasks: { list: {} } });
  });

  test("contain the task support of each tool", async () => {
    const { peer } = await session(
      createServer({
        name: "x",
        version: "1",
        extensions: [tasks()],
        tools: {
          must: tool({ extensions: [asTask({ support: "required" })], call: () => "" }),
          may: tool({ extensions: [asTask()], call: () => "" }),
          never: tool({ call: () => "" }),
        },
      }),
    );
    const { tools } = (await peer.request("tools/list")).result as { tools: { name: string; execution?: object }[] };
    expect(tools.map(({ name, execution }) => [name, execution])).toEqual([
      ["must", { taskSupport: "required" }],
      ["may", { taskSupport: "optional" }],
      ["never", undefined],
    ]);
  });

  test("are empty on revisions without tasks", async () => {
    for (const version of ["2025-06-18", "2025-03-26", "2024-11-05"]) {
      const { peer, opened } = await session(serve(), { version, principal: ann });
      expect(opened.capabilities).not.toHaveProperty("tasks");
      expect(JSON.stringify((await peer.request("tools/list")).result)).not.toContain("execution");
      for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"]) {
        expect((await peer.request(method, { taskId: "x" })).error.code).toBe(-32601);
      }
      const { result } = await peer.request("tools/call", { name: "plain", task: { ttl: 1 } });
      expect(result).toEqual({ content: [{ type: "text", text: "plain false" }] });
      expect((await peer.request("tools/call", { name: "must", task: {} })).error).toMatchObject({
        code: -32600,
        message: expect.stringContaining("be called only as a task") as string,
      });
    }
  });

  test("ignore the capability of the extension", async () => {
    const { peer } = await session(serve(), { capabilities: { extensions: { [tasksId]: {} } } });
    expect((await peer.request("tools/call", { name: "plain" })).result).toEqual({
      content: [{ type: "text", text: "plain false" }],
    });
    expect((await peer.request("tasks/update", { taskId: "x", inputResponses: {} })).error.code).toBe(-32601);
  });
});

describe("a request of a task", () => {
  test("returns the task, with the requested ttl and the id in related messages", async () => {
    const { peer } = await session(serve());
    const { result } = await peer.request("tools/call", { name: "wait", task: { ttl: 60_000 } });
    const task = {
      taskId: expect.any(String) as string,
      status: "working",
      createdAt: "2026-11-20T10:00:00.000Z",
      lastUpdatedAt: "2026-11-20T10:00:00.000Z",
      ttl: 60_000,
      pollInterval: 1000,
    };
    expect(result).toEqual({ task, _meta: { [related]: { taskId: task.taskId } } });
    const { taskId } = (result as { task: { taskId: string } }).task;
    expect((await peer.request("tasks/get", { taskId })).result).toEqual({ ...task, taskId });
    const long = await begin(peer, "wait", { task: { ttl: 1e12 } });
    expect(long.task.ttl).toBe(7 * 86_400_000);
  });

  test("is rejected for a tool without tasks, and required for a tool that must be a task", async () => {
    const { peer } = await session(serve());
    expect((await peer.request("tools/call", { name: "plain", task: {} })).error.code).toBe(-32601);
    expect((await peer.request("tools/call", { name: "must" })).error.code).toBe(-32601);
    expect((await peer.request("tools/call", { name: "none", task: {} })).error.code).toBe(-32602);
    for (const task of [5, { ttl: -1 }, { ttl: "1" }]) {
      expect((await peer.request("tools/call", { name: "wait", task })).error.code).toBe(-32602);
    }
    expect((await begin(peer, "must")).task.status).toBe("working");
  });

  test("has precedence over the decision of the handler", async () => {
    const { peer } = await session(serve());
    expect((await peer.request("tools/call", { name: "decides" })).result).toMatchObject({
      content: [{ text: "false" }],
    });
    const taskId = await idOf(peer, "decides");
    expect((await peer.request("tasks/result", { taskId })).result).toMatchObject({ content: [{ text: "true" }] });
  });

  test("returns a failed task for invalid arguments", async () => {
    const { peer } = await session(serve());
    const taskId = await idOf(peer, "picky");
    expect((await peer.request("tasks/result", { taskId })).result).toMatchObject({ isError: true });
    expect((await peer.request("tasks/get", { taskId })).result.status).toBe("failed");
  });
});

describe("tasks/result", () => {
  test("waits until the task is over, and returns the result of the call", async () => {
    const { peer } = await session(serve());
    const taskId = await idOf(peer, "wait");
    const waiting = peer.request("tasks/result", { taskId });
    await flushPromises();
    expect(peer.received.at(-1)).not.toHaveProperty("id", 3);
    finish("done");
    expect((await waiting).result).toEqual({
      content: [{ type: "text", text: "done" }],
      _meta: { [related]: { taskId } },
    });
    expect((await peer.request("tasks/get", { taskId })).result.status).toBe("completed");
    expect(clock.pending).toBe(sweeping);
  });

  test("returns the result of a failed task for a tool error, and an error for a protocol error", async () => {
    const { peer } = await session(serve());
    const failing = await idOf(peer, "tool");
    expect((await peer.request("tasks/result", { taskId: failing })).result).toMatchObject({ isError: true });
    expect((await peer.request("tasks/get", { taskId: failing })).result).toMatchObject({
      status: "failed",
      statusMessage: expect.any(String) as string,
    });
    const broken = await idOf(peer, "protocol");
    expect((await peer.request("tasks/result", { taskId: broken })).error).toEqual({
      code: -32000,
      message: "no disk",
    });
  });

  test("sends the input requests of the task with its id, and sends them again after the stream has broken", async () => {
    const server = serve();
    const { peer } = await session(server, { principal: ann });
    const taskId = await idOf(peer, "ask");
    await flushPromises();
    await flushPromises();
    expect((await peer.request("tasks/get", { taskId })).result.status).toBe("input_required");
    void peer.request("tasks/result", { taskId });
    const lost = await peer.nextRequest("elicitation/create");
    expect(lost.params).toMatchObject({ message: "Who?", _meta: { [related]: { taskId } } });
    await peer.close();
    const { peer: later } = await session(server, { principal: ann });
    const waiting = later.request("tasks/result", { taskId });
    later.answer(await later.nextRequest("elicitation/create"), { action: "accept", content: { name: "Ann" } });
    expect((await waiting).result).toMatchObject({ content: [{ text: "Hello, Ann!" }, { type: "image" }] });
  });

  test("fails the task with the client's error, which is not the error of the task's own method", async () => {
    const { peer } = await session(serve());
    const taskId = await idOf(peer, "ask");
    const waiting = peer.request("tasks/result", { taskId });
    const { id } = await peer.nextRequest("elicitation/create");
    peer.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "not now" } });
    expect((await waiting).error).toEqual({
      code: -32600,
      message: "The client answered elicitation/create with -32601: not now",
      data: { method: "elicitation/create", code: -32601 },
    });
  });

  test("is aborted when the client no longer waits, while the task continues", async () => {
    const { peer } = await session(serve());
    const taskId = await idOf(peer, "wait");
    peer.send({ jsonrpc: "2.0", id: "r", method: "tasks/result", params: { taskId } });
    await flushPromises();
    const before = clock.pending;
    peer.notify("notifications/cancelled", { requestId: "r" });
    await flushPromises();
    expect(clock.pending).toBe(before - 1);
    expect((await peer.request("tasks/get", { taskId })).result.status).toBe("working");
  });

  test("also waits if the store fails when the wait begins", async () => {
    let isAway = false;
    const memory = memoryStore({ clock });
    const store: Store = {
      ...memory,
      subscribe: (...given) => (isAway ? Promise.reject(new Error("store down")) : memory.subscribe(...given)),
    };
    const { peer } = await session(serve({}, { store, onError: () => {} }));
    const taskId = await idOf(peer, "wait");
    isAway = true;
    const waiting = peer.request("tasks/result", { taskId });
    await flushPromises();
    finish("done");
    await clock.advance(30_000);
    expect((await waiting).result).toMatchObject({ content: [{ text: "done" }] });
  });

  test("rejects when the ttl of the task passes", async () => {
    const { peer } = await session(serve());
    const { task } = await begin(peer, "wait", { task: { ttl: 1000 } });
    const waiting = peer.request("tasks/result", { taskId: task.taskId });
    await clock.advance(1000);
    expect((await waiting).error).toMatchObject({ code: -32602, message: expect.stringContaining("ttl") as string });
  });
});

describe("tasks/cancel", () => {
  test("returns the cancelled task, and rejects one that is over", async () => {
    const { peer } = await session(serve());
    const taskId = await idOf(peer, "wait");
    const waiting = peer.request("tasks/result", { taskId });
    expect((await peer.request("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
    expect((await peer.request("tasks/cancel", { taskId })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("already cancelled") as string,
    });
    expect((await waiting).error).toMatchObject({ message: "The task was cancelled." });
    finish("too late");
    await flushPromises();
    expect((await peer.request("tasks/get", { taskId })).result.status).toBe("cancelled");
  });

  test("rejects an unknown id, like the other methods", async () => {
    const { peer } = await session(serve());
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      expect((await peer.request(method, { taskId: "none" })).error.code).toBe(-32602);
    }
  });
});

describe("tasks/list", () => {
  test("returns pages of the caller's tasks, and no tasks of other callers", async () => {
    const server = serve();
    const { peer } = await session(server, { principal: ann });
    const { peer: bob } = await session(server, { principal: { ...ann, subject: "bob" } });
    const ids = [await idOf(peer, "must"), await idOf(peer, "must"), await idOf(peer, "wait")];
    const his = await idOf(bob, "wait");
    await flushPromises();
    const first = (await peer.request("tasks/list")).result as { tasks: JsonObject[]; nextCursor?: string };
    const second = (await peer.request("tasks/list", { cursor: first.nextCursor })).result as typeof first;
    expect([...first.tasks, ...second.tasks].map(({ taskId, status }) => [taskId, status])).toEqual([
      [ids[0], "completed"],
      [ids[1], "completed"],
      [ids[2], "working"],
    ]);
    expect(second.nextCursor).toBeUndefined();
    expect((await bob.request("tasks/list")).result).toMatchObject({ tasks: [{ taskId: his }] });
    for (const taskId of ids) expect((await bob.request("tasks/cancel", { taskId })).error.code).toBe(-32602);
    for (const cursor of ["x", btoa("after:1"), "%%%"]) {
      expect((await peer.request("tasks/list", { cursor })).error.code).toBe(-32602);
    }
  });

  test("is available to anonymous callers only with listForAnyone", async () => {
    const { peer } = await session(serve());
    await begin(peer, "must");
    expect((await peer.request("tasks/list")).error.code).toBe(-32601);
    const single = (await session(serve({ listForAnyone: true }))).peer;
    const taskId = await idOf(single, "must");
    expect((await single.request("tasks/list")).result).toMatchObject({ tasks: [{ taskId }] });
  });
});

test("notifies the session that requested a task of each change of status, without redundant ids", async () => {
  const { peer } = await session(serve());
  const taskId = await idOf(peer, "ask");
  const { params: asked } = await peer.nextNotification("notifications/tasks/status");
  expect(asked).toMatchObject({
    taskId,
    status: "input_required",
    ttl: 86_400_000,
    createdAt: "2026-11-20T10:00:00.000Z",
  });
  expect(asked).not.toHaveProperty("_meta");
  void peer.request("tasks/result", { taskId });
  peer.answer(await peer.nextRequest("elicitation/create"), { action: "accept", content: { name: "Ann" } });
  const seen: unknown[] = [];
  while (seen.at(-1) !== "completed")
    seen.push((await peer.nextNotification("notifications/tasks/status")).params?.status);
  expect(seen.at(-1)).toBe("completed");
});

test("a modern client with the capability of 2025-11-25 can only read and cancel the tasks that it requested", async () => {
  const server = serve();
  const { peer } = await session(server, { principal: ann });
  const taskId = await idOf(peer, "wait");
  const attach: Server["attach"] = (transport) => server.attach(transport, { principal: ann });
  const old = await rawPeer({ attach }, { meta: modernMeta("2026-07-28", { tasks: {} }) });
  const both = await rawPeer({ attach }, { meta: modernMeta("2026-07-28", { extensions: { [tasksId]: {} } }) });
  expect((await old.request("tasks/get", { taskId })).result).toMatchObject({
    taskId,
    status: "working",
    ttlMs: 86_400_000,
  });
  const own = (await both.request("tools/call", { name: "must" })).result.taskId;
  expect((await old.request("tasks/get", { taskId: own })).error.code).toBe(-32021);
  expect((await old.request("tasks/update", { taskId, inputResponses: {} })).error.code).toBe(-32021);
  expect((await old.request("tasks/cancel", { taskId })).result.resultType).toBe("complete");
});
