import { expect } from "vitest";
import {
  type Client,
  type ConnectOptions,
  type JsonObject,
  ProtocolError,
  ToolError,
  asTask,
  followTasks,
  gate,
  memoryStore,
  rateLimit,
  tasks,
  tasksOf,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { asUser } from "../world/callers.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { asking, textOf } from "../world/subjects.ts";
import { nextLook } from "../world/tasks.ts";
import type { World } from "../world/world.ts";

const related = "io.modelcontextprotocol/related-task";
const never = crypto.randomUUID();
const quick = tool({ extensions: [asTask()], call: () => "done" });
const must = tool({ extensions: [asTask({ support: "required" })], call: () => "done" });
const plain = tool({ call: () => "plain" });
const inquiring = { ...asking, extensions: [asTask()] };

const unlucky = tool({
  extensions: [asTask()],
  call: () => {
    throw new ToolError("There is none.");
  },
});

const failing = tool({
  extensions: [asTask()],
  call: () => {
    throw new ProtocolError(-32000, "The disk is full.");
  },
});

interface Served {
  peer: RawPeer;
  end: ReturnType<typeof gate>;
  /** Calls a tool as a task, and returns the task. */
  begin: (name: string, task?: JsonObject) => Promise<JsonObject>;
  /** Sends a request for a task, once the server has done all that it can. */
  about: (method: string, taskId: unknown) => Promise<RawMessage>;
}

/** Serves every kind of tool on a server with tasks; `wait` is one until the gate is opened. */
async function serve(world: World, listForAnyone = false): Promise<Served> {
  const end = gate();
  const wait = tool({ extensions: [asTask()], call: end.call });
  const extensions = [tasks({ listForAnyone, maxTtlMs: 60_000 })];
  const tools = { quick, must, plain, inquiring, unlucky, failing, wait };
  const peer = await world.serve({ tools, extensions, limits: { pageSize: 2 } }, { capabilities: { elicitation: {} } });
  return {
    peer,
    end,
    async begin(name, task = {}) {
      const { result } = await peer.request("tools/call", { name, task });
      expect(result).toHaveProperty("task");
      return result.task as JsonObject;
    },
    async about(method, taskId) {
      await peer.settled();
      return peer.request(method, { taskId });
    },
  };
}

proves("requested-tasks.capability.declared", async (world) => {
  const { peer } = await serve(world);
  expect(peer.opened?.capabilities).toMatchObject({ tasks: { cancel: {}, requests: { tools: { call: {} } } } });
});

proves("requested-tasks.capability.undeclared", async (world) => {
  const peer = await world.serve({ tools: { plain } });
  expect(peer.opened?.capabilities).not.toHaveProperty("tasks");
  expect(textOf(await peer.request("tools/call", { name: "plain", task: { ttl: 1000 } }))).toBe("plain");
});

const listed = (taskSupport?: string): JsonObject => ({
  tools: [{ name: "t", inputSchema: { type: "object" }, ...(taskSupport && { execution: { taskSupport } }) }],
});
const done = { content: [{ type: "text", text: "done" }] };

/** Connects a client that follows tasks to a scripted server with a tool `t`. */
function follow(
  world: World,
  taskSupport?: string,
  declared: JsonObject = { tasks: { cancel: {}, requests: { tools: { call: {} } } } },
  options: ConnectOptions = {},
): Promise<{ client: Client; server: ScriptedServer }> {
  return world.connect(
    { extensions: [followTasks()], ...options },
    { capabilities: { tools: {}, ...declared }, answers: { "tools/list": () => listed(taskSupport) } },
  );
}

/** Calls `t` with a client, and answers the call if it creates no task. */
async function called(client: Client, server: ScriptedServer): Promise<JsonObject> {
  const outcome = client.callTool("t");
  outcome.catch(() => {});
  const request = await server.request("tools/call");
  if (!("task" in request.params)) {
    server.answer(request, done);
    expect(await outcome).toBe("done");
  }
  return request.params;
}

proves("requested-tasks.capability.respected", async (world) => {
  for (const declared of [{}, { tasks: {} }, { tasks: { requests: {} } }, { tasks: { requests: { tools: {} } } }]) {
    const { client, server } = await follow(world, "required", declared);
    expect(await called(client, server)).not.toHaveProperty("task");
  }
});

proves("requested-tasks.tool.forbidden", async (world) => {
  for (const support of [undefined, "forbidden"]) {
    const { client, server } = await follow(world, support);
    expect(await called(client, server)).not.toHaveProperty("task");
  }
});

proves("requested-tasks.tool.forbidden-refused", async (world) => {
  const { peer } = await serve(world);
  expect((await peer.request("tools/call", { name: "plain", task: {} })).error.code).toBe(-32601);
});

proves("requested-tasks.tool.optional", async (world) => {
  const without = await follow(world, "optional", undefined, { extensions: [] });
  expect(await called(without.client, without.server)).not.toHaveProperty("task");
  const { client, server } = await follow(world, "optional");
  expect((await called(client, server)).task).toEqual({});
  const started = tasksOf(client).start("t");
  const request = await server.request("tools/call");
  expect(request.params.task).toEqual({});
  server.answer(request, { task: aTask(world) });
  expect((await started).task?.taskId).toBe("task-1");
});

proves("requested-tasks.tool.required", async (world) => {
  const { client, server } = await follow(world, "required");
  expect((await called(client, server)).task).toEqual({});
});

proves("requested-tasks.tool.required-refused", async (world) => {
  const { peer } = await serve(world);
  expect((await peer.request("tools/call", { name: "must" })).error.code).toBe(-32601);
});

proves("requested-tasks.create.ttl", async (world) => {
  const { client, server } = await follow(world, "optional");
  const asked = client.request("tools/call", { name: "t", task: { ttl: 5000 } }, { follow: false });
  const request = await server.request("tools/call");
  expect(request.params.task).toEqual({ ttl: 5000 });
  server.answer(request, { task: aTask(world) });
  await asked;
});

proves("requested-tasks.create.result", async (world) => {
  const { begin, end } = await serve(world);
  expect(await begin("wait")).toMatchObject({ taskId: expect.any(String) as string });
  end.open("done");
});

proves("requested-tasks.create.working", async (world) => {
  const { begin, end } = await serve(world);
  expect((await begin("wait")).status).toBe("working");
  end.open("done");
});

proves("requested-tasks.id.unique", async (world) => {
  const { begin } = await serve(world);
  const ids = [];
  for (let task = 0; task < 10; task++) ids.push((await begin("quick")).taskId);
  expect(ids.every((id) => typeof id === "string")).toBe(true);
  expect(new Set(ids).size).toBe(10);
});

proves("requested-tasks.status.final", async (world) => {
  const { begin, about } = await serve(world);
  const { taskId } = await begin("quick");
  expect((await about("tasks/get", taskId)).result.status).toBe("completed");
  await about("tasks/cancel", taskId);
  expect((await about("tasks/get", taskId)).result.status).toBe("completed");
});

function aTask(world: World, more: JsonObject = {}): JsonObject {
  const now = new Date(world.clock.now()).toISOString();
  const times = { createdAt: now, lastUpdatedAt: now, ttl: 60_000, pollInterval: 2000 };
  return { taskId: "task-1", status: "working", ...times, ...more };
}

/** Calls `t` with a client. The scripted server creates a task. */
async function taken(world: World, client: Client, server: ScriptedServer): Promise<{ outcome: Promise<unknown> }> {
  const outcome = client.callTool("t");
  outcome.catch(() => {});
  server.answer(await server.request("tools/call"), { task: aTask(world) });
  return { outcome };
}

proves("requested-tasks.poll.interval", async (world) => {
  const { client, server } = await follow(world, "required");
  await taken(world, client, server);
  const looks = (): number => server.received.filter(({ method }) => method === "tasks/get").length;
  await world.clock.advance(1999);
  expect(looks()).toBe(0);
  server.answer(await nextLook(world, server, 1), aTask(world, { pollInterval: 8000 }));
  await world.clock.advance(7999);
  expect(looks()).toBe(1);
  await nextLook(world, server, 1);
  expect(looks()).toBe(2);
});

proves("requested-tasks.poll.until-over", async (world) => {
  const { client, server } = await follow(world, "required");
  const { outcome } = await taken(world, client, server);
  for (let look = 0; look < 3; look++) server.answer(await nextLook(world, server), aTask(world));
  server.answer(await nextLook(world, server), aTask(world, { status: "completed" }));
  server.answer(await server.request("tasks/result"), done);
  expect(await outcome).toBe("done");
  await world.clock.advance(60_000);
  expect(server.received.filter(({ method }) => method === "tasks/get")).toHaveLength(4);
});

proves("requested-tasks.poll.suggested", async (world) => {
  const { begin, about } = await serve(world);
  const { taskId } = await begin("quick");
  expect((await about("tasks/get", taskId)).result.pollInterval).toBe(1000);
});

proves("requested-tasks.poll.no-stream", async (world) => {
  const { begin, about, peer } = await serve(world);
  const { id } = await about("tasks/get", (await begin("quick")).taskId);
  expect(peer.carried(id)?.type).toBe("application/json");
});

const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string;

proves("requested-tasks.time.stamps", async (world) => {
  const { begin, about, end } = await serve(world);
  const task = await begin("wait");
  const times = { createdAt: stamp, lastUpdatedAt: stamp };
  expect(task).toMatchObject(times);
  for (const method of ["tasks/get", "tasks/cancel"]) {
    expect((await about(method, task.taskId)).result).toMatchObject(times);
  }
  end.open("done");
});

proves("requested-tasks.time.ttl-overridden", async (world) => {
  const { begin } = await serve(world);
  expect((await begin("quick", { ttl: 3_600_000 })).ttl).toBe(60_000);
});

proves("requested-tasks.time.ttl-stated", async (world) => {
  const { begin, about } = await serve(world);
  const { taskId } = await begin("quick", { ttl: 5000 });
  expect((await about("tasks/get", taskId)).result.ttl).toBe(5000);
});

proves("requested-tasks.time.deleted", async (world) => {
  const { begin, about } = await serve(world);
  const { taskId } = await begin("quick", { ttl: 5000 });
  expect((await about("tasks/get", taskId)).result.status).toBe("completed");
  await world.clock.advance(5001);
  expect((await about("tasks/get", taskId)).error.code).toBe(-32602);
});

const accepted = { action: "accept", content: { name: "Ann" } };

proves("requested-tasks.input.status", async (world) => {
  const { begin, about, peer } = await serve(world);
  const { taskId } = await begin("inquiring");
  await peer.next(
    ({ method, params }) => method === "notifications/tasks/status" && params.status === "input_required",
  );
  expect((await about("tasks/get", taskId)).result.status).toBe("input_required");
  const result = peer.start("tasks/result", { taskId });
  peer.answer(await peer.nextRequest("elicitation/create"), accepted);
  expect(textOf(await peer.response(result))).toBe("Hello, Ann");
  expect((await about("tasks/get", taskId)).result.status).toBe("completed");
});

proves("requested-tasks.input.related", async (world) => {
  const { begin, peer } = await serve(world);
  const { taskId } = await begin("inquiring");
  const result = peer.start("tasks/result", { taskId });
  const question = await peer.nextRequest("elicitation/create");
  expect(question.params._meta).toMatchObject({ [related]: { taskId } });
  peer.answer(question, accepted);
  await peer.response(result);
});

proves("requested-tasks.input.result-called", async (world) => {
  const { client, server } = await follow(world, "required");
  await taken(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, { status: "input_required" }));
  expect((await server.request("tasks/result")).params.taskId).toBe("task-1");
});

proves("requested-tasks.result.blocks", async (world) => {
  const { begin, peer, end } = await serve(world);
  const { taskId } = await begin("wait");
  const id = peer.start("tasks/result", { taskId });
  await peer.settled();
  expect(peer.received.filter((message) => message.id === id)).toEqual([]);
  end.open("done");
  expect(textOf(await peer.response(id))).toBe("done");
});

proves("requested-tasks.result.same", async (world) => {
  const { begin, about, peer } = await serve(world);
  for (const name of ["quick", "unlucky"]) {
    const { taskId } = await begin(name);
    const { _meta, ...result } = (await about("tasks/result", taskId)).result;
    expect(result).toEqual((await peer.request("tools/call", { name })).result);
  }
});

proves("requested-tasks.result.error", async (world) => {
  const { begin, about, peer } = await serve(world);
  const { error } = await about("tasks/result", (await begin("failing")).taskId);
  expect(error).toMatchObject({ code: -32000, message: "The disk is full." });
  expect(error).toEqual((await peer.request("tools/call", { name: "failing" })).error);
});

proves("requested-tasks.result.related", async (world) => {
  const { begin, about } = await serve(world);
  const { taskId } = await begin("quick");
  expect((await about("tasks/result", taskId)).result._meta).toMatchObject({ [related]: { taskId } });
});

proves("requested-tasks.related.not-in-task-requests", async (world) => {
  const { begin, about, peer, end } = await serve(world, true);
  const { taskId } = await begin("wait");
  for (const method of ["tasks/get", "tasks/cancel"]) {
    expect(JSON.stringify((await about(method, taskId)).result)).not.toContain(related);
  }
  expect(JSON.stringify((await peer.request("tasks/list")).result)).not.toContain(related);
  end.open("done");
});

proves("requested-tasks.related.param-counts", async (world) => {
  const { begin, peer } = await serve(world);
  const [one, other] = [await begin("quick"), await begin("quick")];
  const { taskId } = one;
  const { result } = await peer.request("tasks/get", { taskId, _meta: { [related]: { taskId: other.taskId } } });
  expect(result.taskId).toBe(taskId);
});

proves("requested-tasks.status-notification.sent", async (world) => {
  const { begin, peer, end } = await serve(world);
  const { taskId, createdAt } = await begin("wait");
  end.open("done");
  const { params } = await peer.nextNotification("notifications/tasks/status");
  expect(params).toMatchObject({ taskId, createdAt, status: "completed", lastUpdatedAt: stamp });
});

proves("requested-tasks.status-notification.no-related", async (world) => {
  const { begin, peer, end } = await serve(world);
  await begin("wait");
  end.open("done");
  const { params } = await peer.nextNotification("notifications/tasks/status");
  expect(JSON.stringify(params)).not.toContain(related);
});

proves("requested-tasks.status-notification.not-needed", async (world) => {
  const { client, server } = await follow(world, "required");
  const { outcome } = await taken(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, { status: "completed" }));
  server.answer(await server.request("tasks/result"), done);
  expect(await outcome).toBe("done");
});

proves("requested-tasks.list.pages", async (world) => {
  const { begin, peer } = await serve(world, true);
  for (let task = 0; task < 3; task++) await begin("quick");
  const first = (await peer.request("tasks/list")).result;
  expect(first.tasks).toHaveLength(2);
  const second = (await peer.request("tasks/list", { cursor: first.nextCursor })).result;
  expect(second.tasks).toHaveLength(1);
  expect(second.nextCursor).toBeUndefined();
});

proves("requested-tasks.list.complete", async (world) => {
  const { begin, about, peer, end } = await serve(world, true);
  const begun = [await begin("quick"), await begin("wait")];
  const looks = [];
  for (const { taskId } of begun) looks.push((await about("tasks/get", taskId)).result);
  expect((await peer.request("tasks/list")).result.tasks).toEqual(looks);
  end.open("done");
});

proves("requested-tasks.list.not-for-other-callers", async (world) => {
  const { peer } = await serve(world);
  expect(peer.opened?.capabilities).not.toHaveProperty("tasks.list");
  expect((await peer.request("tasks/list")).error.code).toBe(-32601);
});

proves("requested-tasks.cancel.over-refused", async (world) => {
  const { begin, about } = await serve(world);
  const { taskId } = await begin("quick");
  await about("tasks/result", taskId);
  expect((await about("tasks/cancel", taskId)).error.code).toBe(-32602);
});

proves("requested-tasks.cancel.before-answer", async (world) => {
  const { begin, about, end } = await serve(world);
  const { taskId } = await begin("wait");
  const { signal } = await end.entered;
  expect((await about("tasks/cancel", taskId)).result).toMatchObject({ taskId, status: "cancelled" });
  expect(signal.aborted).toBe(true);
  end.open("done");
});

proves("requested-tasks.cancel.stays", async (world) => {
  const { begin, about, end } = await serve(world);
  const { taskId } = await begin("wait");
  await about("tasks/cancel", taskId);
  end.open("too late");
  expect((await about("tasks/get", taskId)).result.status).toBe("cancelled");
});

proves("requested-tasks.errors.unknown-id", async (world) => {
  const { about } = await serve(world);
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
    expect((await about(method, never)).error.code).toBe(-32602);
  }
});

proves("requested-tasks.failed.message", async (world) => {
  const { begin, about } = await serve(world);
  const { result } = await about("tasks/get", (await begin("failing")).taskId);
  expect(result).toMatchObject({ status: "failed", statusMessage: "The disk is full." });
});

proves("requested-tasks.failed.tool-error", async (world) => {
  const { begin, about } = await serve(world);
  const { result } = await about("tasks/get", (await begin("unlucky")).taskId);
  expect(result.status).toBe("failed");
});

proves("requested-tasks.security.unguessable", async (world) => {
  const { begin } = await serve(world);
  // A random UUID, of 122 bits. Without a store, a tag and the time follow.
  expect((await begin("quick")).taskId).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(\.[0-9a-z]+){0,2}$/,
  );
});

proves("requested-tasks.security.bound", async (world) => {
  const { open, call } = gate();
  const wait = tool({ extensions: [asTask()], call });
  const shared = { tools: { wait }, extensions: [tasks()], store: memoryStore({ clock: world.clock }) };
  const [ann, ben] = await Promise.all(["ann", "ben"].map((user) => world.serve(shared, { http: asUser(user) })));
  const { task } = (await ann!.request("tools/call", { name: "wait", task: {} })).result as { task: JsonObject };
  const { taskId } = task;
  for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
    expect((await ben!.request(method, { taskId })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("task does not exist"),
    });
  }
  expect((await ben!.request("tasks/list")).result.tasks).toEqual([]);
  expect((await ann!.request("tasks/list")).result.tasks).toEqual([expect.objectContaining({ taskId })]);
  expect((await ann!.request("tasks/get", { taskId })).result.status).toBe("working");
  open("done");
});

proves("requested-tasks.security.rate", async (world) => {
  const { begin, about, end } = await serve(world, true);
  const { taskId } = await begin("wait");
  world.server.use(rateLimit({ perSecond: 1, burst: 2, clock: world.clock }));
  for (const method of ["tasks/get", "tasks/list"]) expect(await about(method, taskId)).toHaveProperty("result");
  for (const method of ["tasks/get", "tasks/list", "tasks/cancel", "tasks/result"]) {
    expect((await about(method, taskId)).error.data).toEqual({ retryAfter: 1 });
  }
  await world.clock.advance(1000);
  expect((await about("tasks/get", taskId)).result.status).toBe("working");
  end.open("done");
});
