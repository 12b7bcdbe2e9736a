import { expect } from "vitest";
import { type Context, type JsonObject, MetaKey, type RawAnswer, gate, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { anotherPeer, declaredBy, listenTo } from "../world/changes.ts";
import { type RawMessage, isNotification } from "../../support/raw-message.ts";
import type { RawPeer, RawRequestInit } from "../../support/raw-peer.ts";
import { failing, gotPrompt, requested } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const method = "notifications/message";
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** A tool that logs once on every level. */
const chatty = tool({
  call: (_, { log }) => {
    for (const level of levels) log[level](`about ${level}`);
    return "done";
  },
});

const logged = ({ received }: RawPeer): JsonObject[] =>
  received.filter((message) => isNotification(message) && message.method === method).map(({ params }) => params);

/** Sets the level of a peer: in its session, or by the returned init of a request. */
async function wanting(world: World, peer: RawPeer, level: string): Promise<RawRequestInit> {
  if (world.isModern) return { meta: { [MetaKey.logLevel]: level } };
  expect((await peer.request("logging/setLevel", { level })).error).toBeUndefined();
  return {};
}

/** Calls a tool, and returns the levels of the messages that were logged during the call. */
async function levelsOf(peer: RawPeer, init: RawRequestInit = {}): Promise<unknown[]> {
  const before = logged(peer).length;
  expect((await peer.request("tools/call", { name: "chatty" }, init)).error).toBeUndefined();
  await peer.settled();
  return logged(peer)
    .slice(before)
    .map(({ level }) => level);
}

proves("logging.capability", async (world) => {
  expect(await declaredBy(world, await world.serve({ tools: { chatty } }))).toHaveProperty("logging");
});

proves("logging.levels", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  expect(await levelsOf(peer, await wanting(world, peer, "debug"))).toEqual(levels);
});

const values = ["text", 7, null, false, [1, "a"], { error: "failed", details: { host: "localhost", port: 5432 } }];

proves("logging.message", async (world) => {
  const saying = tool({
    call: (_, { log }) => {
      for (const value of values) log.error(value, "database");
      log.error("without a logger");
      // JSON cannot carry these, so the message would have no data.
      for (const value of [undefined, () => "", Symbol("s")]) log.error(value);
    },
  });
  const peer = await world.serve({ tools: { saying } });
  await peer.request("tools/call", { name: "saying" }, await wanting(world, peer, "debug"));
  expect(logged(peer)).toEqual([
    ...values.map((data) => ({ level: "error", logger: "database", data })),
    { level: "error", data: "without a logger" },
  ]);
  expect(world.errors).toHaveLength(3);
});

proves("logging.set-level.client", async (world) => {
  const { client, server } = await world.connect();
  const setting = client.setLogLevel("warning");
  const request = await server.request("logging/setLevel");
  expect(request.params.level).toBe("warning");
  server.answer(request, {});
  await setting;
});

proves("logging.set-level.answered", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  for (const level of levels) expect((await peer.request("logging/setLevel", { level })).result).toEqual({});
});

proves("logging.set-level.minimum", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  for (const [index, level] of levels.entries()) {
    await peer.request("logging/setLevel", { level });
    expect(await levelsOf(peer)).toEqual(levels.slice(index));
  }
});

proves("logging.set-level.changed", async (world) => {
  const held = gate();
  const waiting = tool({
    call: async (_, ctx) => {
      ctx.log.info("before");
      await held.call(_, ctx);
      ctx.log.info("after");
    },
  });
  const peer = await world.serve({ tools: { waiting } });
  await peer.request("logging/setLevel", { level: "info" });
  const id = peer.start("tools/call", { name: "waiting" });
  await peer.nextNotification(method);
  await peer.request("logging/setLevel", { level: "error" });
  held.open(undefined);
  await peer.response(id);
  expect(logged(peer)).toMatchObject([{ data: "before" }]);
});

proves("logging.set-level.own", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  const other = await anotherPeer(world);
  await peer.request("logging/setLevel", { level: "emergency" });
  await other.request("logging/setLevel", { level: "alert" });
  expect(await levelsOf(peer)).toEqual(["emergency"]);
  expect(await levelsOf(other)).toEqual(["alert", "emergency"]);
});

proves("logging.default", async (world) => {
  expect(await levelsOf(await world.serve({ tools: { chatty } }))).toEqual(levels.slice(1));
});

proves("logging.request-level.needed", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  expect(await levelsOf(peer)).toEqual([]);
  expect(await levelsOf(peer, await wanting(world, peer, "alert"))).toEqual(["alert", "emergency"]);
  expect(await levelsOf(peer)).toEqual([]);
});

proves("logging.request-level.minimum", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  for (const [index, level] of levels.entries()) {
    const id = peer.start("tools/call", { name: "chatty" }, await wanting(world, peer, level));
    const before = logged(peer).length;
    const position = peer.received.indexOf(await peer.response(id));
    const received = peer.received.slice(0, position).filter((message) => message.method === method);
    expect(received.slice(before).map(({ params }) => params.level)).toEqual(levels.slice(index));
  }
});

/** All messages of one answer over HTTP. */
async function messagesOf(answer: RawAnswer): Promise<Partial<RawMessage>[]> {
  if (answer.type !== "text/event-stream") return [await answer.json()];
  const messages: Partial<RawMessage>[] = [];
  for (let next = await answer.next(); next !== undefined; next = await answer.next()) {
    if (typeof next !== "string") messages.push(next);
  }
  return messages;
}

proves("logging.request-level.own-stream", async (world) => {
  const held = gate();
  const input = { type: "object", properties: { who: { type: "string" } } } as const;
  const saying = tool({
    input,
    call: async ({ who }, ctx) => {
      await held.call(who, ctx);
      ctx.log.info(who);
    },
  });
  const http = world.serveHttp({ tools: { saying } });
  const accept = world.transport === "http-sse" ? "text/event-stream" : "application/json, text/event-stream";
  const send = (who: string, meta: JsonObject): Promise<RawAnswer> =>
    http.modern("tools/call", { name: "saying", arguments: { who } }, { headers: { accept }, meta, id: who });
  const wanted = { [MetaKey.logLevel]: "info" };
  const answers = [send("a", wanted), send("b", {}), send("c", wanted)];
  held.open(undefined);
  const received: unknown[] = [];
  for (const answer of answers) {
    const messages = await messagesOf(await answer);
    received.push(messages.filter((message) => message.method === method).map(({ params }) => params?.data));
    expect("result" in messages.at(-1)!).toBe(true);
  }
  expect(received).toEqual([["a"], [], ["c"]]);
});

proves("logging.request-level.not-listening", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  await listenTo(world, peer, { toolsListChanged: true });
  expect(await levelsOf(peer)).toEqual([]);
  expect(await levelsOf(peer, await wanting(world, peer, "emergency"))).toEqual(["emergency"]);
  for (const params of logged(peer)) expect(JSON.stringify(params)).not.toContain(MetaKey.subscriptionId);
});

proves("logging.request-level.not-after", async (world) => {
  let kept!: Context;
  const keeping = tool({ call: (_, ctx) => void (kept = ctx) });
  const peer = await world.serve({ tools: { keeping } });
  await peer.request("tools/call", { name: "keeping" }, await wanting(world, peer, "debug"));
  kept.log.emergency("too late");
  await peer.settled();
  expect(logged(peer)).toEqual([]);
});

proves("logging.request-level.client", async (world) => {
  const { client, server } = await world.connect();
  const levelOf = async (options: object = {}): Promise<unknown> => {
    const { request, outcome } = await requested(client, server, options);
    server.answer(request, gotPrompt);
    await outcome;
    return (request.params._meta as JsonObject)[MetaKey.logLevel];
  };
  expect(await levelOf({ logLevel: "error" })).toBe("error");
  expect(await levelOf()).toBeUndefined();
  await client.setLogLevel("notice");
  expect(await levelOf()).toBe("notice");
  expect(await levelOf({ logLevel: "debug" })).toBe("debug");
});

proves("logging.request-level.client-silent", async (world) => {
  const { client, server } = await world.connect({ onLog: () => {} });
  await requested(client, server);
  expect(server.received.length).toBeGreaterThan(1);
  expect(JSON.stringify(server.received)).not.toContain(MetaKey.logLevel);
});

proves("logging.error.invalid-level", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  for (const level of ["loud", "INFO", "", 7, [], {}]) {
    const { error } = world.isModern
      ? await peer.request("tools/call", { name: "chatty" }, { meta: { [MetaKey.logLevel]: level } })
      : await peer.request("logging/setLevel", { level });
    expect(error.code).toBe(-32602);
  }
});

proves("logging.client.shown", async (world) => {
  const shown: unknown[] = [];
  const { client, server } = await world.connect({ onLog: (message) => shown.push(message) });
  const { request, outcome } = await requested(client, server, { logLevel: "debug" });
  const sent = values.map((data, index) => ({ level: levels[index], logger: `l${index}`, data }));
  for (const params of sent) server.notify(method, params, request);
  server.answer(request, gotPrompt);
  await outcome;
  expect(shown).toEqual(sent);
});

proves("logging.client.unknown-level", async (world) => {
  const shown: { level: string; data: unknown }[] = [];
  const { client, server } = await world.connect({ onLog: (message) => shown.push(message) });
  const { request, outcome } = await requested(client, server, { logLevel: "debug" });
  for (const params of [{ level: "loud", data: "a" }, { data: "b" }, { level: 7 }]) {
    server.notify(method, params, request);
  }
  server.answer(request, gotPrompt);
  expect(await outcome).toMatchObject(gotPrompt);
  expect(shown.map(({ level, data }) => [level, data])).toEqual([
    ["info", "a"],
    ["info", "b"],
    ["info", undefined],
  ]);
});

proves("logging.secrets", async (world) => {
  const peer = await world.serve({ tools: { failing, chatty } });
  const init = await wanting(world, peer, "debug");
  await peer.request("tools/call", { name: "failing" }, init);
  await peer.request("tools/call", { name: "none" }, init);
  await peer.request("tools/list", {}, init);
  await peer.settled();
  expect(logged(peer)).toEqual([]);
  expect(JSON.stringify(peer.received)).not.toContain("secret");
});

proves("logging.access", async (world) => {
  const peer = await world.serve({ tools: { chatty } });
  const other = await anotherPeer(world);
  await wanting(world, other, "debug");
  await listenTo(world, other, { toolsListChanged: true });
  expect(await levelsOf(peer, await wanting(world, peer, "error"))).toEqual(levels.slice(4));
  await other.settled();
  expect(logged(other)).toEqual([]);
});

proves("logging.rate", async (world) => {
  const flood = tool({
    call: (_, { log }) => {
      for (let line = 1; line <= 5000; line++) log.error(line);
      return "done";
    },
  });
  const peer = await world.serve({ tools: { flood }, limits: { notificationRate: 10 } });
  const init = await wanting(world, peer, "debug");
  expect((await peer.request("tools/call", { name: "flood" }, init)).error).toBeUndefined();
  const data = logged(peer).map((params) => params.data);
  expect(data.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(data.slice(10)).toEqual(["4990 log messages were dropped (limits.notificationRate)."]);
});
