import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { type RawHttp, type RawMessage, openHttpSession, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../fetch/to-fetch.ts";

const listRoots = tool({ call: async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(" ") });
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "listRoots" } };

function serve(): RawHttp {
  const server = createServer({ name: "test", version: "1.0.0", tools: { listRoots } });
  return rawHttp("http://localhost/mcp", toFetch(server).fetch);
}

const open = (client: RawHttp, capabilities: JsonObject = { roots: {} }): Promise<Record<string, string>> =>
  openHttpSession(client, { capabilities });

const rootsOf = (inputRequest: RawMessage, uri: string): JsonObject => ({
  jsonrpc: "2.0",
  id: inputRequest.id,
  result: { roots: [{ uri }] },
});

test("sends an input request on the response to the call, and answers the POST of the client's response with 202", async () => {
  const client = serve();
  const session = await open(client);
  const answer = await client.post(call, session);
  expect(answer.type).toBe("text/event-stream");
  const inputRequest = (await answer.next()) as RawMessage;
  expect(inputRequest).toMatchObject({ jsonrpc: "2.0", method: "roots/list" });
  const accepted = await client.post(rootsOf(inputRequest, "file:///home"), session);
  expect(accepted.status).toBe(202);
  expect(await accepted.text()).toBe("");
  expect(await answer.next()).toMatchObject({ id: 1, result: { content: [{ text: "file:///home" }] } });
  expect(await answer.next()).toBeUndefined();
});

test("assigns a response to the input request of its own session, although all sessions use the same ids", async () => {
  const client = serve();
  const [one, two] = [await open(client), await open(client)];
  const [first, second] = [await client.post(call, one), await client.post(call, two)];
  const [inFirst, inSecond] = [(await first.next()) as RawMessage, (await second.next()) as RawMessage];
  expect(inFirst.id).toBe(inSecond.id);
  await client.post(rootsOf(inFirst, "file:///two"), two);
  await client.post(rootsOf(inFirst, "file:///one"), one);
  expect(await first.next()).toMatchObject({ result: { content: [{ text: "file:///one" }] } });
  expect(await second.next()).toMatchObject({ result: { content: [{ text: "file:///two" }] } });
});

test("ignores a response with an unknown id or an id of another type", async () => {
  const client = serve();
  const session = await open(client);
  const answer = await client.post(call, session);
  const inputRequest = (await answer.next()) as RawMessage;
  for (const id of [String(inputRequest.id), 99]) {
    const accepted = await client.post({ jsonrpc: "2.0", id, result: { roots: [] } }, session);
    expect(accepted.status).toBe(202);
  }
  await flushPromises();
  await client.post(rootsOf(inputRequest, "file:///right"), session);
  expect(await answer.next()).toMatchObject({ result: { content: [{ text: "file:///right" }] } });
});

test("fails the input request immediately if the client does not accept event streams", async () => {
  const client = serve();
  const session = await open(client);
  const answer = await client.post(call, { ...session, accept: "application/json" });
  expect(answer.type).toBe("application/json");
  expect((await answer.json()).error.message).toContain("text/event-stream");
});

test("fails an input request before it is sent if the client lacks the capability", async () => {
  const client = serve();
  const session = await open(client, {});
  const answer = await client.post(call, session);
  expect(answer.type).toBe("application/json");
  expect((await answer.json()).error.message).toContain("roots");
});

test("puts the input requests of a modern call into its result, and reads the responses from the retry", async () => {
  const client = serve();
  const capabilities = { roots: {} };
  const first = await client.modern("tools/call", { name: "listRoots" }, { capabilities });
  expect(first.type).toBe("application/json");
  const { result } = await first.json();
  expect(result.resultType).toBe("input_required");
  const keys = Object.keys(result.inputRequests as JsonObject);
  expect(keys).toHaveLength(1);
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { roots: [{ uri: "file:///modern" }] }]));
  const retry = { name: "listRoots", inputResponses, requestState: result.requestState };
  const second = await client.modern("tools/call", retry, { id: 2, capabilities });
  expect((await second.json()).result.content).toEqual([{ type: "text", text: "file:///modern" }]);
});
