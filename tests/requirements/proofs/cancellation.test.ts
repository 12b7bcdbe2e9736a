import { expect } from "vitest";
import { type Context, followTasks, gate, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isNotification, isRequest, turns } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const isCancel = ({ method }: RawMessage): boolean => method === "notifications/cancelled";

/** A cancelled request of a client. Its cancellation has been sent. */
async function givenUp(world: World, errors: Error[] = []) {
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  const controller = new AbortController();
  const { request, outcome } = await requested(client, server, { signal: controller.signal });
  controller.abort(new Error("changed my mind"));
  await expect(outcome).rejects.toMatchObject({ code: "aborted" });
  await turns();
  return { client, server, request };
}

proves("cancellation.client.notifies", async (world) => {
  const { server, request } = await givenUp(world);
  expect((await server.notification("notifications/cancelled")).params.requestId).toBe(request.id);
});

proves("cancellation.client.notifies-on-stdio", async (world) => {
  const { server, request } = await givenUp(world);
  expect((await server.notification("notifications/cancelled")).params.requestId).toBe(request.id);
});

proves("cancellation.client.closes-stream", async (world) => {
  const { server, request } = await givenUp(world);
  expect(server.httpOf(request).signal.aborted).toBe(true);
  expect(server.received.filter(isNotification)).toEqual([]);
});

proves("cancellation.client.stops-waiting", async (world) => {
  const { client } = await givenUp(world);
  expect(client.inFlight).toBe(0);
});

proves("cancellation.client.only-in-flight", async (world) => {
  const { client, server } = await world.connect();
  const controller = new AbortController();
  const { request, outcome } = await requested(client, server, { signal: controller.signal });
  server.answer(request, gotPrompt);
  await outcome;
  controller.abort();
  await turns();
  expect(server.received.filter(isCancel)).toEqual([]);
});

proves("cancellation.client.never-initialize", async (world) => {
  const controller = new AbortController();
  const { connecting, server } = world.dial({ revision: world.version, signal: controller.signal });
  connecting.catch(() => {});
  await server.request("initialize");
  controller.abort();
  await expect(connecting).rejects.toMatchObject({ code: "aborted" });
  await turns();
  expect(server.received.filter(isCancel)).toEqual([]);
});

proves("cancellation.client.late-response", async (world) => {
  const errors: Error[] = [];
  const { client, server, request } = await givenUp(world, errors);
  const { request: next, outcome } = await requested(client, server);
  server.send({ jsonrpc: "2.0", id: request.id, result: gotPrompt }, next);
  server.answer(next, { ...gotPrompt, description: "the right one" });
  expect(await outcome).toMatchObject({ description: "the right one" });
  expect(errors).toEqual([]);
});

proves("cancellation.client.input-requests", async (world) => {
  let begin!: (signal: AbortSignal) => void;
  const asked = new Promise<AbortSignal>((resolve) => (begin = resolve));
  const roots = (source: { signal: AbortSignal }): Promise<never> => {
    begin(source.signal);
    return new Promise(() => {});
  };
  const { client, server } = await world.connect({ roots });
  const { request, outcome } = await requested(client, server);
  void server.ask("q", "roots/list", undefined, request);
  const signal = await asked;
  server.notify("notifications/cancelled", { requestId: "q", reason: "not needed" }, request);
  server.answer(request, gotPrompt);
  await outcome;
  expect(signal.aborted).toBe(true);
  await turns();
  expect(server.received.some(({ id }) => id === "q")).toBe(false);
});

proves("cancellation.client.unknown", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server);
  for (const params of [{ requestId: "none" }, { requestId: request.id }, {}, { requestId: null }]) {
    server.notify("notifications/cancelled", params, request);
  }
  server.answer(request, gotPrompt);
  await outcome;
});

const roots = { capabilities: { roots: {} } };

proves("cancellation.server.notifies", async (world) => {
  const peer = await world.serve({ tools: { rooted }, limits: { askTimeout: 1_000 } }, roots);
  peer.start("tools/call", { name: "rooted" });
  const request = await peer.nextRequest("roots/list");
  await world.clock.advance(1_000);
  expect((await peer.nextNotification("notifications/cancelled")).params.requestId).toBe(request.id);
});

/** A tool call whose handler has started, and the context of the handler. */
async function begun(
  world: World,
): Promise<{ peer: RawPeer; id: string; ctx: Context; open: (value: unknown) => void }> {
  const slow = gate();
  const peer = await world.serve({ tools: { slow: tool(slow), echo }, limits: { inFlight: 1 } });
  peer.start("tools/call", { name: "slow" }, { id: "slow", meta: { progressToken: "p" } });
  const ctx = await slow.entered;
  return { peer, id: "slow", ctx, open: slow.open };
}

async function cancelled(world: World): ReturnType<typeof begun> {
  const call = await begun(world);
  const { signal } = call.ctx;
  call.peer.cancel(call.id, "enough");
  while (!signal.aborted) await turns(1);
  return call;
}

proves("cancellation.server.stops", async (world) => {
  const { ctx } = await cancelled(world);
  expect(ctx.signal.aborted).toBe(true);
});

proves("cancellation.server.frees", async (world) => {
  const { peer, open } = await cancelled(world);
  open("too late");
  await peer.settled();
  expect(textOf(await peer.request("tools/call", { name: "echo" }))).toBe("{}");
  expect(textOf(await peer.request("tools/call", { name: "echo" }, { id: "slow" }))).toBe("{}");
});

proves("cancellation.server.no-response", async (world) => {
  const { peer, open } = await cancelled(world);
  open("too late");
  await peer.settled();
  expect(peer.received.some(({ id }) => id === "slow")).toBe(false);
});

proves("cancellation.server.silent", async (world) => {
  const { peer, ctx, open } = await cancelled(world);
  const before = peer.received.length;
  ctx.progress(1);
  ctx.log.error("too late");
  open(new Error("too late"));
  await peer.settled();
  expect(peer.received.length).toBe(before);
});

proves("cancellation.server.unknown", async (world) => {
  const { peer, open } = await begun(world);
  peer.notify("notifications/cancelled", { requestId: "none" });
  peer.notify("notifications/cancelled", { requestId: 0, reason: "what?" });
  await peer.settled();
  open("done");
  expect(textOf(await peer.response("slow"))).toBe("done");
});

proves("cancellation.server.completed", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const { id } = await peer.request("tools/call", { name: "echo" });
  const before = peer.received.length;
  peer.notify("notifications/cancelled", { requestId: id });
  await peer.settled();
  expect(peer.received.length).toBe(before);
  expect(textOf(await peer.request("tools/call", { name: "echo" }))).toBe("{}");
});

proves("cancellation.server.malformed", async (world) => {
  const { peer, open } = await begun(world);
  for (const params of [{}, { requestId: null }, { requestId: { id: "slow" } }, { requestId: ["slow"] }]) {
    peer.notify("notifications/cancelled", params);
  }
  peer.notify("notifications/cancelled");
  await peer.settled();
  open("done");
  expect(textOf(await peer.response("slow"))).toBe("done");
});

proves("cancellation.race", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    const id = peer.start("tools/call", { name: "echo" });
    peer.cancel(id);
    await peer.settled();
    expect(peer.received.filter((message) => message.id === id).length).toBeLessThan(2);
    expect(textOf(await peer.request("tools/call", { name: "echo" }))).toBe("{}");
  },
  async client(world) {
    const errors: Error[] = [];
    const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
    const controller = new AbortController();
    const { request, outcome } = await requested(client, server, { signal: controller.signal });
    server.answer(request, gotPrompt);
    controller.abort();
    await outcome.catch(() => {});
    await turns();
    const next = await requested(client, server);
    server.answer(next.request, gotPrompt);
    await next.outcome;
    expect(client.inFlight).toBe(0);
    expect(errors).toEqual([]);
  },
});

proves("cancellation.reason", async (world) => {
  const { ctx } = await cancelled(world);
  expect(String(ctx.signal.reason)).toContain("enough");
});

proves("cancellation.reason-sent", async (world) => {
  const { server } = await givenUp(world);
  const { params } = await server.notification("notifications/cancelled");
  expect(typeof params.reason).toBe("string");
});

proves("cancellation.disconnect", async (world) => {
  const { ctx, peer } = await begun(world);
  const { signal } = ctx;
  peer.cancel("slow");
  while (!signal.aborted) await turns(1);
  expect(peer.received.filter(isCancel)).toEqual([]);
});

proves("cancellation.by-server.listen", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const id = peer.start("subscriptions/listen", { notifications: { toolsListChanged: true } });
  await peer.nextNotification("notifications/subscriptions/acknowledged");
  void world.server.close();
  expect((await peer.nextNotification("notifications/cancelled")).params.requestId).toBe(id);
});

proves("cancellation.by-server.nothing-else", async (world) => {
  const { peer, open } = await cancelled(world);
  open("too late");
  await peer.request("tools/call", { name: "echo" });
  await peer.request("tools/call", { name: "none" });
  expect(peer.received.filter(isCancel)).toEqual([]);
  expect(peer.received.filter(isRequest)).toEqual([]);
});

proves("cancellation.task", async (world) => {
  const execution = { taskSupport: "required" };
  const listing = { tools: [{ name: "t", inputSchema: { type: "object" }, execution }] };
  const now = new Date(world.clock.now()).toISOString();
  const task = { taskId: "task-1", status: "working", createdAt: now, lastUpdatedAt: now, ttl: 60_000 };
  const { client, server } = await world.connect(
    { extensions: [followTasks()] },
    {
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      answers: { "tools/list": () => listing },
    },
  );
  const controller = new AbortController();
  const outcome = client.callTool("t", {}, { signal: controller.signal });
  outcome.catch(() => {});
  server.answer(await server.request("tools/call"), { task });
  await turns();
  controller.abort();
  const cancellation = await server.request("tasks/cancel");
  expect(cancellation.params.taskId).toBe("task-1");
  expect(server.received.filter(isCancel)).toEqual([]);
  // Closing the client waits for the response.
  server.answer(cancellation, { ...task, status: "cancelled" });
});
