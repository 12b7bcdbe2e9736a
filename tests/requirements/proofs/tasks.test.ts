import { expect } from "vitest";
import {
  type Context,
  MetaKey,
  ProtocolError,
  ToolError,
  asTask,
  continueAsTask,
  gate,
  memoryStore,
  rateLimit,
  tasks,
  tasksOf,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { asUser } from "../world/callers.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { textOf } from "../world/subjects.ts";
import {
  aTask,
  callAnsweredWithTask,
  declared,
  followedTasks,
  inquiring,
  nextLook,
  said,
  serveTasks,
  tasksId,
  waiting,
} from "../world/tasks.ts";

const quick = tool({ extensions: [asTask()], call: () => "done" });
const completed = { status: "completed", result: { content: [{ type: "text", text: "done" }] } };
const never = crypto.randomUUID();

const failing = tool({
  extensions: [asTask()],
  call: () => {
    throw new ProtocolError(-32000, "The disk is full.", { data: { free: 0 } });
  },
});

const unlucky = tool({
  extensions: [asTask()],
  call: () => {
    throw new ToolError("There is none.");
  },
});

proves("tasks.negotiation.declared", {
  async server(world) {
    const { peer } = await serveTasks(world, {});
    const { result } = await peer.request("server/discover");
    expect(result.capabilities).toMatchObject({ extensions: { [tasksId]: {} } });
  },
  async client(world) {
    const { client, server } = await followedTasks(world);
    const called = client.callTool("t");
    const request = await server.request("tools/call");
    expect(request.params._meta).toMatchObject({ [MetaKey.clientCapabilities]: { extensions: { [tasksId]: {} } } });
    server.answer(request, { resultType: "complete", content: [] });
    await called;
  },
});

proves("tasks.negotiation.server-decides", async (world) => {
  const long = tool({
    input: { type: "object", properties: { pages: { type: "number" } } },
    call: async ({ pages }, ctx) => {
      if (Number(pages) > 100) await continueAsTask(ctx);
      return "done";
    },
  });
  const { peer } = await serveTasks(world, { long });
  const types = [];
  for (const pages of [1, 1000]) {
    const { result } = await peer.request("tools/call", { name: "long", arguments: { pages } });
    types.push(result.resultType);
  }
  expect(types).toEqual(["complete", "task"]);
});

proves("tasks.negotiation.undeclared", async (world) => {
  const { peer, begin } = await serveTasks(world, { quick });
  await begin("quick");
  const undeclared = { meta: { [MetaKey.clientCapabilities]: {} } };
  const answer = await peer.request("tools/call", { name: "quick" }, undeclared);
  expect(answer.result.resultType).toBe("complete");
  expect(textOf(answer)).toBe("done");
});

proves("tasks.negotiation.either", async (world) => {
  const { client, server } = await followedTasks(world);
  const first = client.callTool("t");
  server.answer(await server.request("tools/call"), {
    resultType: "complete",
    content: [{ type: "text", text: "now" }],
  });
  expect(await first).toBe("now");
  const { outcome } = await callAnsweredWithTask(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, completed));
  expect(await outcome).toBe("done");
});

proves("tasks.negotiation.unsupported-request", async (world) => {
  const { client, server } = await followedTasks(world);
  const got = client.getPrompt("p");
  got.catch(() => {});
  server.answer(await server.request("prompts/get"), aTask(world, { resultType: "task" }));
  await expect(got).rejects.toMatchObject({ code: "invalid_message" });
});

proves("tasks.negotiation.required", async (world) => {
  const must = tool({ extensions: [asTask({ support: "required" })], call: () => "done" });
  const { peer } = await serveTasks(world, { must }, {});
  const { error } = await peer.request("tools/call", { name: "must" });
  expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions: { [tasksId]: {} } } } });
});

proves("tasks.result.type", async (world) => {
  const { peer, begin, look } = await serveTasks(world, { quick, plain: tool({ call: () => "plain" }) });
  const { taskId } = await begin("quick");
  expect((await look(taskId)).resultType).toBe("complete");
  expect((await peer.request("tools/call", { name: "plain" })).result.resultType).toBe("complete");
  expect((await peer.request("tools/list")).result.resultType).toBe("complete");
});

proves("tasks.status.failed-is-protocol", async (world) => {
  const { begin, look } = await serveTasks(world, { unlucky, failing });
  const tried = await look((await begin("unlucky")).taskId);
  expect(tried).toMatchObject({ status: "completed", result: { isError: true } });
  expect((await look((await begin("failing")).taskId)).status).toBe("failed");
});

proves("tasks.status.message-shown", async (world) => {
  const { client, server } = await followedTasks(world);
  const seen = tasksOf(client).get("task-1");
  server.answer(await server.request("tasks/get"), aTask(world, { statusMessage: "Reading" }));
  expect((await seen).statusMessage).toBe("Reading");
});

proves("tasks.creation.durable", async (world) => {
  const { tool: t, open } = waiting();
  const { peer, begin } = await serveTasks(world, { t });
  const { taskId } = await begin("t");
  const { result } = await peer.request("tasks/get", { taskId }, { headers: { "mcp-name": String(taskId) } });
  expect(result).toMatchObject({ taskId, status: "working" });
  open("done");
});

proves("tasks.creation.rounds-first", async (world) => {
  const both = tool({
    call: async (_, ctx) => {
      const schema = { type: "object", properties: { name: { type: "string" } } } as const;
      const { name } = await ctx.elicit({ message: "Who?", key: "who", schema });
      await continueAsTask(ctx);
      return String(name);
    },
  });
  const { peer, look } = await serveTasks(world, { both });
  const { result } = await peer.request("tools/call", { name: "both" });
  expect(result).toMatchObject({ resultType: "input_required", inputRequests: { who: {} } });
  const { requestState } = result;
  const again = await peer.request("tools/call", { name: "both", requestState, inputResponses: { who: said("Ann") } });
  expect(again.result.resultType).toBe("task");
  expect(await look(again.result.taskId)).toMatchObject({
    status: "completed",
    result: { content: [{ text: "Ann" }] },
  });
});

proves("tasks.polling.interval", async (world) => {
  const { client, server } = await followedTasks(world);
  const { outcome } = await callAnsweredWithTask(world, client, server);
  const looks = (): number => server.received.filter(({ method }) => method === "tasks/get").length;
  await world.clock.advance(1999);
  expect(looks()).toBe(0);
  server.answer(await nextLook(world, server, 1), aTask(world, { pollIntervalMs: 8000 }));
  await world.clock.advance(7999);
  expect(looks()).toBe(1);
  server.answer(await nextLook(world, server, 1), aTask(world, completed));
  expect(await outcome).toBe("done");
});

proves("tasks.polling.until-over", async (world) => {
  const { client, server } = await followedTasks(world);
  const { outcome } = await callAnsweredWithTask(world, client, server);
  for (let look = 0; look < 5; look++) server.answer(await nextLook(world, server), aTask(world));
  server.answer(await nextLook(world, server), aTask(world, completed));
  expect(await outcome).toBe("done");
  await world.clock.advance(60_000);
  expect(server.received.filter(({ method }) => method === "tasks/get")).toHaveLength(6);
});

proves("tasks.polling.id-kept", async (world) => {
  const first = await followedTasks(world);
  const started = tasksOf(first.client).start("t");
  first.server.answer(await first.server.request("tools/call"), aTask(world, { resultType: "task" }));
  const { task } = await started;
  await first.client.close();
  const { client, server } = await followedTasks(world);
  const result = tasksOf(client).result(task!.taskId);
  const look = await server.request("tasks/get");
  expect(look.params.taskId).toBe("task-1");
  server.answer(look, aTask(world, completed));
  expect((await result).content).toEqual([{ type: "text", text: "done" }]);
});

proves("tasks.get.working", async (world) => {
  const { tool: t, open } = waiting();
  const { begin, look } = await serveTasks(world, { t });
  const task = await look((await begin("t")).taskId);
  expect(task.status).toBe("working");
  expect(Object.keys(task)).not.toEqual(expect.arrayContaining(["result"]));
  open("done");
});

proves("tasks.get.input-required", async (world) => {
  const { begin, look } = await serveTasks(world, { inquiring });
  const { status, inputRequests } = await look((await begin("inquiring")).taskId);
  expect(status).toBe("input_required");
  const asked = Object.values(inputRequests as Record<string, { method: string; params: { message: string } }>);
  expect(asked.map(({ method, params }) => [method, params.message])).toEqual([
    ["elicitation/create", "One?"],
    ["elicitation/create", "Two?"],
  ]);
});

proves("tasks.get.completed", async (world) => {
  const { begin, look } = await serveTasks(world, { quick });
  expect(await look((await begin("quick")).taskId)).toMatchObject(completed);
});

proves("tasks.get.cancelled", async (world) => {
  const { tool: t, open } = waiting();
  const { begin, about, look } = await serveTasks(world, { t });
  const { taskId } = await begin("t");
  await about("tasks/cancel", taskId);
  expect((await look(taskId)).status).toBe("cancelled");
  open("too late");
  expect((await look(taskId)).status).toBe("cancelled");
});

proves("tasks.get.failed", async (world) => {
  const { begin, look } = await serveTasks(world, { failing });
  const error = { code: -32000, message: "The disk is full.", data: { free: 0 } };
  expect(await look((await begin("failing")).taskId)).toMatchObject({ status: "failed", error });
});

proves("tasks.get.complete", async (world) => {
  const { begin, look } = await serveTasks(world, { quick, failing, unlucky, inquiring });
  const types = [];
  for (const name of ["quick", "failing", "unlucky", "inquiring"]) {
    types.push((await look((await begin(name)).taskId)).resultType);
  }
  expect(types).toEqual(["complete", "complete", "complete", "complete"]);
});

proves("tasks.ttl.deleted", async (world) => {
  const brief = tool({ extensions: [asTask({ ttlMs: 5000 })], call: () => "done" });
  const { begin, about, look } = await serveTasks(world, { brief });
  const { taskId, ttlMs } = await begin("brief");
  expect(ttlMs).toBe(5000);
  expect((await look(taskId)).status).toBe("completed");
  await world.clock.advance(5001);
  expect((await about("tasks/get", taskId)).error.code).toBe(-32602);
});

const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};
const asks = { status: "input_required", inputRequests: { q: question } };

proves("tasks.update.fulfilled", async (world) => {
  const { client, server } = await followedTasks(world, { elicit: () => said("Ann") as never });
  await callAnsweredWithTask(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, asks));
  const update = await server.request("tasks/update");
  expect(update.params).toMatchObject({ taskId: "task-1", inputResponses: { q: said("Ann") } });
  server.answer(update, { resultType: "complete" });
});

proves("tasks.update.observed", async (world) => {
  const { client, server } = await followedTasks(world, { elicit: () => said("Ann") as never });
  const { outcome } = await callAnsweredWithTask(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, asks));
  server.answer(await server.request("tasks/update"), { resultType: "complete" });
  server.answer(await nextLook(world, server), aTask(world));
  server.answer(await nextLook(world, server), aTask(world, completed));
  expect(await outcome).toBe("done");
});

proves("tasks.update.same-trust", async (world) => {
  const asked: unknown[] = [];
  const elicit = (request: object): never => {
    asked.push(request);
    return { action: "decline" } as never;
  };
  const { client, server } = await followedTasks(world, { elicit });
  const direct = client.callTool("t");
  direct.catch(() => {});
  server.answer(await server.request("tools/call"), { resultType: "input_required", inputRequests: { q: question } });
  server.answer(await server.request("tools/call"), { resultType: "complete", content: [] });
  await direct;
  await callAnsweredWithTask(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, asks));
  const update = await server.request("tasks/update");
  expect(update.params.inputResponses).toEqual({ q: { action: "decline" } });
  server.answer(update, { resultType: "complete" });
  expect(asked).toHaveLength(2);
  expect(asked[1]).toEqual(asked[0]);
});

proves("tasks.update.once", async (world) => {
  let asked = 0;
  const { client, server } = await followedTasks(world, { elicit: () => said(`Ann ${++asked}`) as never });
  const { outcome } = await callAnsweredWithTask(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, asks));
  server.answer(await server.request("tasks/update"), { resultType: "complete" });
  server.answer(await nextLook(world, server), aTask(world, asks));
  server.answer(await nextLook(world, server), aTask(world, completed));
  await outcome;
  expect(asked).toBe(1);
  expect(server.received.filter(({ method }) => method === "tasks/update")).toHaveLength(1);
});

proves("tasks.update.key-unique", async (world) => {
  const { begin, look, about } = await serveTasks(world, { inquiring });
  const { taskId } = await begin("inquiring");
  const keys: string[] = [];
  for (let round = 0; round < 2; round++) {
    const open = Object.keys((await look(taskId)).inputRequests as object);
    keys.push(...open);
    await about("tasks/update", taskId, { inputResponses: Object.fromEntries(open.map((key) => [key, said("a")])) });
  }
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(3);
  expect(await look(taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "a a a" }] } });
});

proves("tasks.update.acknowledged", async (world) => {
  const { begin, look, about } = await serveTasks(world, { inquiring });
  const { taskId } = await begin("inquiring");
  const [key = ""] = Object.keys((await look(taskId)).inputRequests as object);
  const { result } = await about("tasks/update", taskId, { inputResponses: { [key]: said("a") } });
  const { _meta, ...rest } = result;
  expect(rest).toEqual({ resultType: "complete" });
});

proves("tasks.update.unknown-task", async (world) => {
  const { about } = await serveTasks(world, {});
  expect((await about("tasks/update", never, { inputResponses: {} })).error.code).toBe(-32602);
});

proves("tasks.update.unknown-key", async (world) => {
  const { begin, look, about } = await serveTasks(world, { inquiring });
  const { taskId } = await begin("inquiring");
  const before = await look(taskId);
  const { result } = await about("tasks/update", taskId, { inputResponses: { nothing: said("a") } });
  expect(result.resultType).toBe("complete");
  expect((await look(taskId)).inputRequests).toEqual(before.inputRequests);
});

proves("tasks.update.partial", async (world) => {
  const { begin, look, about } = await serveTasks(world, { inquiring });
  const { taskId } = await begin("inquiring");
  const [one = "", two = ""] = Object.keys((await look(taskId)).inputRequests as object);
  await about("tasks/update", taskId, { inputResponses: { [two]: said("b") } });
  const left = await look(taskId);
  expect(left.status).toBe("input_required");
  expect(Object.keys(left.inputRequests as object)).toEqual([one]);
});

proves("tasks.cancel.not-by-notification", async (world) => {
  const { client, server } = await followedTasks(world);
  const giving = new AbortController();
  const { outcome, request } = await callAnsweredWithTask(world, client, server, { signal: giving.signal });
  server.answer(await nextLook(world, server), aTask(world));
  giving.abort();
  const cancel = await server.request("tasks/cancel");
  expect(cancel.params.taskId).toBe("task-1");
  server.answer(cancel, { resultType: "complete" });
  await expect(outcome).rejects.toThrow();
  const given = server.received.filter(({ method }) => method === "notifications/cancelled");
  expect(given.filter(({ params }) => params.requestId === request.id)).toEqual([]);
});

proves("tasks.cancel.acknowledged", async (world) => {
  const { tool: t, open } = waiting();
  const { begin, about } = await serveTasks(world, { t });
  const { result } = await about("tasks/cancel", (await begin("t")).taskId);
  const { _meta, ...rest } = result;
  expect(rest).toEqual({ resultType: "complete" });
  open("too late");
});

proves("tasks.cancel.unknown-task", async (world) => {
  const { about } = await serveTasks(world, {});
  expect((await about("tasks/cancel", never)).error.code).toBe(-32602);
});

proves("tasks.cancel.too-late", async (world) => {
  const { begin, about, look } = await serveTasks(world, { quick });
  const { taskId } = await begin("quick");
  expect((await look(taskId)).status).toBe("completed");
  expect((await about("tasks/cancel", taskId)).result.resultType).toBe("complete");
  expect(await look(taskId)).toMatchObject(completed);
});

proves("tasks.cancel.forgotten", async (world) => {
  const { client, server } = await followedTasks(world);
  const giving = new AbortController();
  const { outcome } = await callAnsweredWithTask(world, client, server, { signal: giving.signal });
  server.answer(await nextLook(world, server), aTask(world));
  giving.abort();
  await server.request("tasks/cancel");
  await expect(outcome).rejects.toThrow();
  await world.clock.advance(60_000);
  expect(server.received.filter(({ method }) => method === "tasks/get")).toHaveLength(1);
});

proves("tasks.notifications.pushed", async (world) => {
  const { tool: t, open } = waiting();
  const { peer, begin } = await serveTasks(world, { t });
  const { taskId } = await begin("t");
  peer.start("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  const { params } = await peer.nextNotification("notifications/subscriptions/acknowledged");
  expect(params.notifications).toEqual({ taskIds: [taskId] });
  expect((await peer.nextNotification("notifications/tasks")).params).toMatchObject({ taskId, status: "working" });
  open("done");
  expect((await peer.nextNotification("notifications/tasks")).params).toMatchObject({ taskId, status: "completed" });
});

proves("tasks.notifications.whole", async (world) => {
  const { begin, look, peer } = await serveTasks(world, { quick });
  const { taskId } = await begin("quick");
  const { resultType: _type, _meta: _other, ...task } = await look(taskId);
  peer.start("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  const { _meta, ...params } = (await peer.nextNotification("notifications/tasks")).params;
  expect(params).toEqual(task);
  expect(params).toMatchObject(completed);
});

proves("tasks.notifications.undeclared", async (world) => {
  const { peer } = await serveTasks(world, { quick }, {});
  const { error } = await peer.request("subscriptions/listen", { notifications: { taskIds: [never] } });
  expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions: { [tasksId]: {} } } } });
});

proves("tasks.notifications.no-others", async (world) => {
  let context!: Context;
  const gated = gate();
  const chatty = tool({
    extensions: [asTask()],
    call: (_, ctx) => {
      context = ctx;
      return gated.call({}, ctx);
    },
  });
  const { peer, begin, look } = await serveTasks(world, { chatty });
  const { taskId } = await begin("chatty");
  peer.start("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  await peer.nextNotification("notifications/subscriptions/acknowledged");
  context.progress(1, 2, "Half");
  context.log.warning("careful");
  await world.clock.advance(1000);
  expect((await look(taskId)).statusMessage).toContain("Half");
  gated.open("done");
  await peer.settled();
  const sent = peer.received.flatMap(({ method }) => method ?? []);
  expect(sent).toContain("notifications/tasks");
  expect(sent.filter((method) => /progress|message$/.test(method))).toEqual([]);
});

proves("tasks.notifications.polled-too", async (world) => {
  const { client, server } = await followedTasks(world);
  const { outcome } = await callAnsweredWithTask(world, client, server);
  server.answer(await nextLook(world, server), aTask(world, completed));
  expect(await outcome).toBe("done");
  expect(server.received.filter(({ method }) => method === "subscriptions/listen")).toEqual([]);
});

proves("tasks.headers.name", async (world) => {
  const { client, server } = await followedTasks(world, { elicit: () => said("Ann") as never });
  const giving = new AbortController();
  await callAnsweredWithTask(world, client, server, { signal: giving.signal });
  const look = await nextLook(world, server);
  server.answer(look, aTask(world, asks));
  const update = await server.request("tasks/update");
  giving.abort();
  const cancel = await server.request("tasks/cancel");
  for (const request of [look, update, cancel]) {
    expect(server.httpOf(request).headers.get("mcp-name")).toBe("task-1");
  }
  // Closing the client waits for the response.
  server.answer(cancel, {});
});

proves("tasks.errors.unknown-id", async (world) => {
  const { about } = await serveTasks(world, {});
  expect((await about("tasks/get", never)).error.code).toBe(-32602);
});

proves("tasks.errors.undeclared", async (world) => {
  const { about } = await serveTasks(world, {}, { elicitation: {} });
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const { error } = await about(method, never, { inputResponses: {} });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions: { [tasksId]: {} } } } });
  }
});

proves("tasks.errors.informative", async (world) => {
  const { peer, about } = await serveTasks(world, {}, declared);
  expect((await about("tasks/get", never)).error.message).toContain("task does not exist");
  const { error } = await peer.request("tasks/get", { taskId: 7 }, { headers: { "mcp-name": "7" } });
  expect(error.message).toMatch(/taskId|mcp-name/i);
});

proves("tasks.failed.message", async (world) => {
  const { begin, look } = await serveTasks(world, { failing });
  expect((await look((await begin("failing")).taskId)).statusMessage).toBe("The disk is full.");
});

proves("tasks.security.unguessable", async (world) => {
  const { begin } = await serveTasks(world, { quick });
  const ids = new Set<string>();
  for (let task = 0; task < 20; task++) ids.add(String((await begin("quick")).taskId));
  expect(ids.size).toBe(20);
  // A random UUID, of 122 bits. Without a store, a tag and the time follow.
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(\.[0-9a-z]+){0,2}$/);
});

proves("tasks.security.owner", async (world) => {
  const { tool: t, open } = waiting();
  const shared = { tools: { t }, extensions: [tasks()], store: memoryStore({ clock: world.clock }) };
  const [ann, ben] = await Promise.all(
    ["ann", "ben"].map((user) => world.serve(shared, { capabilities: declared, http: asUser(user) })),
  );
  const { taskId } = (await ann!.request("tools/call", { name: "t" })).result;
  const ask = (peer: RawPeer, method: string) =>
    peer.request(method, { taskId, inputResponses: {} }, { headers: { "mcp-name": String(taskId) } });
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    expect((await ask(ben!, method)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("task does not exist"),
    });
  }
  ben!.start("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  const { params } = await ben!.nextNotification("notifications/subscriptions/acknowledged");
  expect(params.notifications).toEqual({ taskIds: [] });
  expect((await ask(ann!, "tasks/get")).result.status).toBe("working");
  open("done");
});

proves("tasks.polling.rate-limited", async (world) => {
  const { tool: t, open } = waiting();
  const { begin, about } = await serveTasks(world, { t });
  const { taskId } = await begin("t");
  world.server.use(rateLimit({ perSecond: 1, burst: 3, clock: world.clock }));
  for (const method of ["tasks/get", "tasks/update", "tasks/get"]) {
    expect(await about(method, taskId, { inputResponses: {} })).toHaveProperty("result");
  }
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    expect((await about(method, taskId, { inputResponses: {} })).error.data).toEqual({ retryAfter: 1 });
  }
  await world.clock.advance(1000);
  expect((await about("tasks/get", taskId)).result.status).toBe("working");
  open("done");
});
