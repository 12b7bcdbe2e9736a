import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import { type Node, callTool, cluster, message, open, recording, request } from "./cluster.ts";

/** Processes whose tool asks for a name. */
function servers() {
  const clock = fakeClock(1_000_000);
  const store = recording(memoryStore({ clock }));
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const ask = tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "Who?", schema })) });
  const options = { sessions: { idle: 60_000 } };
  const { nodes } = cluster({ clock, definition: () => ({ tools: { ask } }), store: () => store, options });
  const [a, b, c] = nodes as [Node, Node, Node];
  return { a, b, c, store, clock };
}

/** Sends one request of the session to each node, so that its first writes are not counted later. */
async function openOn([first, ...others]: [Node, ...Node[]]): Promise<Record<string, string>> {
  const session = await open(first.client);
  for (const { client } of others) await (await request(client, session, "ping")).text();
  await flushPromises();
  return session;
}

const accept = (name: string): JsonObject => ({ action: "accept", content: { name } });
const respond = ({ client }: Node, session: Record<string, string>, id: unknown, result = accept("Ann")) =>
  client.post({ jsonrpc: "2.0", id, result }, session);
const progress = ({ client }: Node, session: Record<string, string>, progressToken: unknown, more: object = {}) =>
  client.post(
    { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1, ...more } },
    session,
  );

/** Calls the tool on a node, and returns the id of its input request. */
async function asked(node: Node, session: Record<string, string>): Promise<{ answer: RawAnswer; id: string }> {
  const answer = await callTool(node.client, session, "ask");
  return { answer, id: (await message(answer))!.id as string };
}

const megabyte = "x".repeat(1_000_000);

test("a response or progress with an invented id writes nothing to the store", async () => {
  const { a, b, store } = servers();
  const session = await openOn([a, b]);
  const { id } = await asked(a, session);
  await flushPromises();
  const [node = "", copy = "", number = ""] = id.split(".");
  const made = [
    `${"0".repeat(16)}.0.0`,
    `${node}.${copy}.${Number(number) + 1}`,
    `${node}.${Number(copy) + 7}.${number}`,
    `${node}.${id}`,
    `${node}.`,
    "1",
    1,
    megabyte.slice(0, 1_000),
  ];
  store.writes.length = 0;
  for (const other of made) {
    expect((await respond(b, session, other, accept(megabyte))).status).toBe(202);
    expect((await progress(b, session, other, { message: megabyte })).status).toBe(202);
  }
  await flushPromises();
  expect(store.writes).toEqual([]);
});

test("a response from another session writes nothing to the store", async () => {
  const { a, b, store } = servers();
  const [session, other] = [await open(a.client), await open(b.client)];
  const { id } = await asked(a, session);
  await flushPromises();
  store.writes.length = 0;
  expect((await respond(b, other, id)).status).toBe(202);
  await flushPromises();
  // The seats of the two new sessions are renewed after a digest, which may take longer than the flush.
  expect(store.writes.filter((write) => !write.includes(":session-seat:"))).toEqual([]);
});

test("a response for a dead process is refused, and writes nothing to the store", async () => {
  const { a, b, store, clock } = servers();
  const session = await openOn([a, b]);
  const { id } = await asked(a, session);
  a.kill();
  await clock.advance(12_000);
  store.writes.length = 0;
  const refused = await respond(b, session, id);
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain("The process that waits for this response has probably ended");
  expect(store.writes.filter((write) => write.includes(":mail:"))).toEqual([]);
});

test("only one of several responses on other processes is forwarded", async () => {
  const { a, b, c, store, clock } = servers();
  const session = await open(a.client);
  const { answer, id } = await asked(a, session);
  await flushPromises();
  store.writes.length = 0;
  const all = [b, c, b, c, b, c].map((node) => respond(node, session, id));
  await clock.advance(1_000);
  for (const { status } of await Promise.all(all)) expect(status).toBe(202);
  expect(await message(answer)).toMatchObject({ result: { content: [{ text: '{"name":"Ann"}' }] } });
  expect(store.writes.filter((write) => /^append .*:mail:/.test(write))).toHaveLength(1);
});

test.each([
  [11_999, "is accepted", 202],
  [12_000, "is refused, and accepted after a renewal", 503],
])("a response to a process that has not renewed its lease for %i ms %s", async (ms, _, status) => {
  const { a, b, store, clock } = servers();
  const session = await openOn([a, b]);
  const { answer, id } = await asked(a, session);
  const working = { ...store };
  store.set = (key, ...rest) =>
    key.includes(`:alive:${id.split(".")[0]}`) ? Promise.reject(new Error("down")) : working.set(key, ...rest);
  await clock.advance(ms);
  expect((await respond(b, session, id)).status).toBe(status);
  store.set = (...given) => working.set(...given);
  await clock.advance(3_000);
  if (status === 503) expect((await respond(b, session, id)).status).toBe(202);
  expect(await message(answer)).toMatchObject({ result: { content: [{ text: '{"name":"Ann"}' }] } });
});

test.each([0, 250, 1_000])("a response can be repeated %i ms after the store failed to forward it", async (ms) => {
  const { a, b, store, clock } = servers();
  const session = await openOn([a, b]);
  const { answer, id } = await asked(a, session);
  await flushPromises();
  const working = { ...store };
  store.append = (log, ...rest) =>
    log.includes(":mail:") ? Promise.reject(new Error("down")) : working.append(log, ...rest);
  expect((await respond(b, session, id)).status).toBe(503);
  store.append = (...given) => working.append(...given);
  await clock.advance(ms);
  const repeating = respond(b, session, id);
  await clock.advance(1_000);
  expect((await repeating).status).toBe(202);
  expect(await message(answer)).toMatchObject({ result: { content: [{ text: '{"name":"Ann"}' }] } });
});

test("of many responses to a process that does not react, one a second is forwarded, and the last are dropped", async () => {
  const { a, b, c, store, clock } = servers();
  const session = await openOn([a, b]);
  const { id } = await asked(a, session);
  await flushPromises();
  const working = { ...store };
  store.readFrom = (log, ...rest) => (log.includes(":mail:") ? Promise.resolve([]) : working.readFrom(log, ...rest));
  store.writes.length = 0;
  const all = Array.from({ length: 8 }, (_, index) => respond(index % 2 ? b : c, session, id));
  const appended = (): number => store.writes.filter((write) => /^append .*:mail:/.test(write)).length;
  for (let second = 1; second <= 5; second++) {
    await flushPromises();
    expect(appended()).toBe(second);
    await clock.advance(1_000);
  }
  for (const { status } of await Promise.all(all)) expect(status).toBe(202);
  expect(appended()).toBe(5);
});

test("an input request waits until the store is available, so that its response is not lost", async () => {
  const { a, b, store, clock } = servers();
  const session = await openOn([a, b]);
  const working = { ...store };
  store.set = (key, ...rest) =>
    key.includes("input-request") ? Promise.reject(new Error("down")) : working.set(key, ...rest);
  const asking = asked(a, session);
  await clock.advance(3_000);
  store.set = (...given) => working.set(...given);
  await clock.advance(1_000);
  const { answer, id } = await asking;
  expect((await respond(b, session, id)).status).toBe(202);
  expect(await message(answer)).toMatchObject({ result: { content: [{ text: '{"name":"Ann"}' }] } });
});

test("a large response arrives completely, and leaves nothing in the store", async () => {
  const { a, b, store } = servers();
  const session = await open(a.client);
  const { answer, id } = await asked(a, session);
  await respond(b, session, id, accept(megabyte));
  expect(await message(answer)).toMatchObject({ result: { content: [{ text: `{"name":"${megabyte}"}` }] } });
  await flushPromises();
  expect(store.writes.filter((write) => /^set .*:mail:/.test(write))).toHaveLength(1);
  expect((await store.keys()).filter((key) => key.includes(":mail:"))).toEqual([]);
});

test("progress is forwarded at most once a second, with a shortened message", async () => {
  const { a, b, store, clock } = servers();
  const session = await openOn([a, b]);
  const { id } = await asked(a, session);
  await flushPromises();
  store.writes.length = 0;
  for (let count = 0; count < 20; count++) await progress(b, session, id, { message: megabyte });
  const appended = (): string[] => store.writes.filter((write) => /^append .*:mail:/.test(write));
  expect(appended()).toHaveLength(1);
  expect(store.writes.filter((write) => write.startsWith("set "))).toEqual([]);
  await clock.advance(1_000);
  await progress(b, session, id);
  expect(appended()).toHaveLength(2);
});

test("an input request that has waited for a long time can be answered on another process", async () => {
  const { a, b, clock } = servers();
  const session = await open(a.client);
  const { answer, id } = await asked(a, session);
  await clock.advance(90_000);
  await respond(b, session, id);
  expect(await message(answer)).toMatchObject({ result: { content: [{ text: '{"name":"Ann"}' }] } });
});

test("an answered input request leaves nothing in the store", async () => {
  const { a, store } = servers();
  const session = await open(a.client);
  const { answer, id } = await asked(a, session);
  await respond(a, session, id);
  await message(answer);
  await flushPromises();
  expect((await store.keys()).filter((key) => key.includes("input-request"))).toEqual([]);
});
