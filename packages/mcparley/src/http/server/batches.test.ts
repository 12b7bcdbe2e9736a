import { expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { type RawHttp, type RawMessage, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../fetch/to-fetch.ts";

const slow = gate();

async function serve(protocolVersion: string): Promise<(batch: unknown) => ReturnType<RawHttp["post"]>> {
  const progress = tool({
    call: (_, ctx) => {
      ctx.progress(1);
      return "progressed";
    },
  });
  const server = createServer({ name: "test", version: "1.0.0", tools: { progress, slow: tool(slow) } });
  const client = rawHttp("http://localhost/mcp", toFetch(server).fetch);
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1.0.0" } };
  const answer = await client.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const session = { "mcp-session-id": answer.headers.get("mcp-session-id")! };
  return (batch) => client.post(batch, session);
}

const ping = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "ping" });
const pong = (id: unknown): object => ({ jsonrpc: "2.0", id, result: {} });
const notification = { jsonrpc: "2.0", method: "notifications/initialized" };

test.each(["2024-11-05", "2025-06-18", "2025-11-25"])(
  "refuses a batch with 400 on %s, which has no batches",
  async (version) => {
    const post = await serve(version);
    const answer = await post([ping(1)]);
    expect(answer.status).toBe(400);
    const { error } = await answer.json();
    expect(error.code).toBe(-32600);
    expect(error.message).toContain("Batches are not part of this revision");
  },
);

test("answers a batch with a batch", async () => {
  const post = await serve("2025-03-26");
  const answer = await post([ping(1), notification, ping("1")]);
  expect(answer.status).toBe(200);
  expect(answer.type).toBe("application/json");
  expect(await answer.json()).toEqual([pong(1), pong("1")]);
  expect(await (await post([ping(2)])).json()).toEqual([pong(2)]);
});

test("answers a batch without requests with 202", async () => {
  const post = await serve("2025-03-26");
  for (const batch of [[notification], [notification, { jsonrpc: "2.0", id: 9, result: {} }]]) {
    const answer = await post(batch);
    expect(answer.status).toBe(202);
    expect(await answer.text()).toBe("");
  }
});

test("answers an invalid message of a batch with an error, and the others as usual", async () => {
  const post = await serve("2025-03-26");
  const initialize = { jsonrpc: "2.0", id: 3, method: "initialize", params: {} };
  const replies = (await (await post([7, ping(1), { id: 2 }, initialize])).json()) as unknown as RawMessage[];
  expect(replies.map(({ id }) => id)).toEqual([undefined, 1, 2, 3]);
  expect(replies.map(({ error }) => error?.code)).toEqual([-32600, undefined, -32600, -32600]);
});

test("sends the replies to a batch as a stream if a notification precedes them", async () => {
  const post = await serve("2025-03-26");
  const call = (id: number, name: string): object => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, _meta: { progressToken: id } },
  });
  const answer = await post([call(1, "progress"), call(2, "slow"), ping(3)]);
  expect(answer.type).toBe("text/event-stream");
  expect(await answer.next()).toMatchObject({ method: "notifications/progress", params: { progressToken: 1 } });
  const early = [await answer.next(), await answer.next()] as RawMessage[];
  expect(new Set(early.map(({ id }) => id))).toEqual(new Set([1, 3]));
  slow.open("at last");
  expect(await answer.next()).toMatchObject({ id: 2, result: { content: [{ text: "at last" }] } });
  expect(await answer.next()).toBeUndefined();
});

test("accepts a batch of 100 messages, and refuses 101 messages and an empty batch with 400", async () => {
  const post = await serve("2025-03-26");
  const full = await post(Array.from({ length: 100 }, (_, id) => ping(id)));
  expect(await full.json()).toHaveLength(100);
  for (const length of [101, 0]) {
    const refused = await post(Array.from({ length }, (_, id) => ping(id)));
    expect(refused.status).toBe(400);
    expect((await refused.json()).error.message).toContain("1 to 100");
  }
});
