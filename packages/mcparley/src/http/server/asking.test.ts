import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { type RawHttp, type RawMessage, openHttpSession, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../to-fetch.ts";

const asking = tool({ call: async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(" ") });
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "asking" } };

function serve(): RawHttp {
  const server = createServer({ name: "test", version: "1.0.0", tools: { asking } });
  return rawHttp("http://localhost/mcp", toFetch(server).fetch);
}

const open = (client: RawHttp, capabilities: JsonObject = { roots: {} }): Promise<Record<string, string>> =>
  openHttpSession(client, { capabilities });

const rootsOf = (question: RawMessage, uri: string): JsonObject => ({
  jsonrpc: "2.0",
  id: question.id,
  result: { roots: [{ uri }] },
});

test("a question goes out on the answer of its request, and is answered by a POST with 202", async () => {
  const client = serve();
  const session = await open(client);
  const answer = await client.post(call, session);
  expect(answer.type).toBe("text/event-stream");
  const question = (await answer.next()) as RawMessage;
  expect(question).toMatchObject({ jsonrpc: "2.0", method: "roots/list" });
  const taken = await client.post(rootsOf(question, "file:///home"), session);
  expect(taken.status).toBe(202);
  expect(await taken.text()).toBe("");
  expect(await answer.next()).toMatchObject({ id: 1, result: { content: [{ text: "file:///home" }] } });
  expect(await answer.next()).toBeUndefined();
});

test("a question is answered in its session alone, though every session uses the same ids", async () => {
  const client = serve();
  const [one, two] = [await open(client), await open(client)];
  const [first, second] = [await client.post(call, one), await client.post(call, two)];
  const [asked, alsoAsked] = [(await first.next()) as RawMessage, (await second.next()) as RawMessage];
  expect(asked.id).toBe(alsoAsked.id);
  await client.post(rootsOf(asked, "file:///two"), two);
  await client.post(rootsOf(asked, "file:///one"), one);
  expect(await first.next()).toMatchObject({ result: { content: [{ text: "file:///one" }] } });
  expect(await second.next()).toMatchObject({ result: { content: [{ text: "file:///two" }] } });
});

test("an answer to no question, or with an id of another type, changes nothing", async () => {
  const client = serve();
  const session = await open(client);
  const answer = await client.post(call, session);
  const question = (await answer.next()) as RawMessage;
  for (const id of [String(question.id), 99]) {
    const taken = await client.post({ jsonrpc: "2.0", id, result: { roots: [] } }, session);
    expect(taken.status).toBe(202);
  }
  await flushPromises();
  await client.post(rootsOf(question, "file:///right"), session);
  expect(await answer.next()).toMatchObject({ result: { content: [{ text: "file:///right" }] } });
});

test("a client that takes no event streams cannot be asked, and its call says so at once", async () => {
  const client = serve();
  const session = await open(client);
  const answer = await client.post(call, { ...session, accept: "application/json" });
  expect(answer.type).toBe("application/json");
  expect((await answer.json()).error.message).toContain("text/event-stream");
});

test("a question with nowhere to go is an error before anything is sent", async () => {
  const client = serve();
  const session = await open(client, {});
  const answer = await client.post(call, session);
  expect(answer.type).toBe("application/json");
  expect((await answer.json()).error.message).toContain("roots");
});

test("a modern client is asked in the result, and answers with its retry", async () => {
  const client = serve();
  const capabilities = { roots: {} };
  const first = await client.modern("tools/call", { name: "asking" }, { capabilities });
  expect(first.type).toBe("application/json");
  const { result } = await first.json();
  expect(result.resultType).toBe("input_required");
  const asked = Object.keys(result.inputRequests as JsonObject);
  expect(asked).toHaveLength(1);
  const inputResponses = Object.fromEntries(asked.map((key) => [key, { roots: [{ uri: "file:///modern" }] }]));
  const retry = { name: "asking", inputResponses, requestState: result.requestState };
  const second = await client.modern("tools/call", retry, { id: 2, capabilities });
  expect((await second.json()).result.content).toEqual([{ type: "text", text: "file:///modern" }]);
});
