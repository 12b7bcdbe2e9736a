import { describe, expect, test } from "vitest";
import type { RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import { type Cluster, type Headers_, type Node, authenticated, cluster, failing, message } from "./cluster.ts";

function servers(more: object = {}): Cluster {
  const ask = tool({
    call: async (_, ctx) => {
      const { content } = await ctx.sample({ messages: [], maxTokens: 1 });
      return (content as { text: string }).text;
    },
  });
  const tools = { hello: tool({ call: (_, ctx) => `Hello ${ctx.principal?.subject}` }), ask };
  const { options = {}, ...others } = more as { options?: object };
  return cluster({ definition: () => ({ tools }), options: { path: "/mcp", legacySse: true, ...options }, ...others });
}

/** Opens a stream on one node, and returns it with its endpoint for POST. */
async function open({ client }: Node, headers: Headers_ = {}): Promise<{ stream: RawAnswer; path: string }> {
  const stream = await client.send({
    method: "GET",
    path: "/sse",
    headers: { accept: "text/event-stream", ...headers },
  });
  const block = await stream.block();
  return { stream, path: block?.split("data: ")[1] ?? "" };
}

const post = ({ client }: Node, path: string, body: object, headers: Headers_ = {}): Promise<RawAnswer> =>
  client.send({ path, body: { jsonrpc: "2.0", ...body }, headers: { "content-type": "application/json", ...headers } });

const initialize = (id: RequestId): object => ({
  id,
  method: "initialize",
  params: { protocolVersion: "2024-11-05", capabilities: { sampling: {} }, clientInfo: { name: "x", version: "1" } },
});
const call = (id: RequestId, name: string): object => ({ id, method: "tools/call", params: { name, arguments: {} } });

describe("a session of HTTP+SSE", () => {
  test("accepts messages on any node, and replies on its stream", async () => {
    const { nodes } = servers();
    const [a, b, c] = nodes;
    const { stream, path } = await open(a!);
    expect((await post(b!, path, initialize(1))).status).toBe(202);
    expect((await message(stream))?.result).toMatchObject({ protocolVersion: "2024-11-05" });
    await post(c!, path, { method: "notifications/initialized" });
    await post(a!, path, call(2, "hello"));
    expect((await message(stream))?.id).toBe(2);
    await post(b!, path, call(3, "ask"));
    const inputRequest = await message(stream);
    const text = "x".repeat(100_000);
    const result = { role: "assistant", content: { type: "text", text }, model: "m" };
    await post(c!, path, { id: inputRequest?.id, result });
    expect(await message(stream)).toMatchObject({ id: 3, result: { content: [{ text }] } });
  });

  test("does not exist for another caller on any node, and each node refuses invalid messages", async () => {
    const { nodes } = servers({ options: authenticated });
    const [a, b] = nodes;
    const { stream, path } = await open(a!, { authorization: "Bearer alice" });
    for (const node of [a!, b!]) {
      expect((await post(node, path, initialize(1), { authorization: "Bearer bob" })).status).toBe(404);
      expect((await post(node, path, { id: null }, { authorization: "Bearer alice" })).status).toBe(400);
    }
    await post(b!, path, initialize(1), { authorization: "Bearer alice" });
    expect((await message(stream))?.id).toBe(1);
    await post(b!, path, call(2, "hello"), { authorization: "Bearer alice" });
    expect(await message(stream)).toMatchObject({ id: 2, result: { content: [{ text: "Hello alice" }] } });
  });

  test("ends on all nodes as soon as its client leaves", async () => {
    const { nodes, clock } = servers();
    const [a, b] = nodes;
    const { stream, path } = await open(a!);
    await post(b!, path, initialize(1));
    expect((await message(stream))?.id).toBe(1);
    await stream.leave();
    await flushPromises();
    expect((await post(b!, path, call(2, "hello"))).status).toBe(404);
    // Its node does not renew it either.
    await clock.advance(20_000);
    expect((await post(b!, path, call(3, "hello"))).status).toBe(404);
  });

  test("ends on all nodes with its stream or its node", async () => {
    const { nodes, clock } = servers();
    const [a, b, c] = nodes;
    const { stream, path } = await open(a!);
    await clock.advance(200_000);
    // The session exists while its stream is open, also without messages; its client has 60 s to initialize.
    expect(await message(stream)).toBeUndefined();
    expect((await post(b!, path, initialize(1))).status).toBe(404);
    const other = await open(a!);
    await post(b!, other.path, initialize(1));
    await clock.advance(200_000);
    expect((await post(c!, other.path, call(2, "hello"))).status).toBe(202);
    a!.kill();
    await clock.advance(60_000);
    expect((await post(c!, other.path, call(3, "hello"))).status).toBe(404);
  });

  test("cannot be opened while the store is unavailable, and continues afterwards", async () => {
    const store = failing(memoryStore());
    const { nodes } = servers({ store: () => store });
    const [a, b] = nodes;
    const { stream, path } = await open(a!);
    await post(a!, path, initialize(1));
    await message(stream);
    store.isAway = true;
    const headers = { accept: "text/event-stream" };
    expect((await b!.client.send({ method: "GET", path: "/sse", headers })).status).toBe(503);
    expect((await post(b!, path, call(2, "hello"))).status).toBe(503);
    expect((await post(a!, path, call(3, "hello"))).status).toBe(202);
    expect((await message(stream))?.id).toBe(3);
    store.isAway = false;
    expect((await post(b!, path, call(4, "hello"))).status).toBe(202);
    await flushPromises();
    expect((await message(stream))?.id).toBe(4);
  });
});
