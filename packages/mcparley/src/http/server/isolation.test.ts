import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import type { StandardSchema } from "../../schema/standard-schema.ts";
import { tool } from "../../server/definition.ts";
import { coreOf, createServer } from "../../server/create-server.ts";
import { type RawHttp, type RawMessage, openHttpSession, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { Endpoint } from "./endpoint.ts";
import { FetchExchange } from "../fetch/fetch-exchange.ts";
import { toFetch } from "../fetch/to-fetch.ts";

/** Returns the caller's secret, principal and roots. Waits for `turns` turns of the event loop before the reply. */
const report = tool({
  input: { type: "object" },
  call: async ({ secret, turns, ask }, ctx) => {
    ctx.progress(1, undefined, String(secret));
    for (let turn = 0; turn < Number(turns); turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    const roots = ask ? await ctx.roots() : [];
    return [String(secret), ctx.principal?.subject ?? "", ...roots.map(({ uri }) => uri)];
  },
});
const server = createServer({ name: "test", version: "1.0.0", tools: { report } });
const { fetch } = toFetch(server, {
  auth: (head) => ({ issuer: "test", subject: head.header("authorization") ?? "", scopes: [] }),
});
const client = rawHttp("http://localhost/mcp", fetch);

interface Plan {
  revisionKind: "modern" | "legacy";
  id: number | string;
  turns: number;
  ask: boolean;
  progress: boolean;
}

/** Few ids and many clients: several clients use the same id at the same time. */
const plan: fc.Arbitrary<Plan> = fc.record({
  revisionKind: fc.constantFrom("modern", "legacy"),
  id: fc.constantFrom<number | string>(0, 1, "0", "1", "id"),
  turns: fc.integer({ min: 0, max: 4 }),
  ask: fc.boolean(),
  progress: fc.boolean(),
});

async function run(plan: Plan, secret: string): Promise<void> {
  const message = await (plan.revisionKind === "modern" ? callModern(plan, secret) : callLegacy(plan, secret));
  const texts = [secret, secret, ...(plan.ask ? [`file:///${secret}`] : [])];
  expect(message.id).toBe(plan.id);
  expect((message.result.content as { text: string }[]).map(({ text }) => text)).toEqual(texts);
}

const paramsOf = ({ turns, ask }: Plan, secret: string): JsonObject => ({
  name: "report",
  arguments: { secret, turns, ask },
});

async function callModern(plan: Plan, secret: string): Promise<RawMessage> {
  const more = {
    id: plan.id,
    headers: { authorization: secret },
    capabilities: { roots: {} },
    ...(plan.progress && { meta: { progressToken: plan.id } }),
  };
  const first = await read(await client.modern("tools/call", paramsOf(plan, secret), more), secret);
  if (first.result.resultType === "complete") return first;
  const asked = Object.keys(first.result.inputRequests as JsonObject);
  const inputResponses = Object.fromEntries(asked.map((key) => [key, { roots: [{ uri: `file:///${secret}` }] }]));
  const retry = { ...paramsOf(plan, secret), inputResponses, requestState: first.result.requestState };
  return read(await client.modern("tools/call", retry, more), secret);
}

async function callLegacy(plan: Plan, secret: string): Promise<RawMessage> {
  const session = await openHttpSession(client, { capabilities: { roots: {} }, headers: { authorization: secret } });
  const meta = plan.progress ? { _meta: { progressToken: plan.id } } : {};
  const call = { jsonrpc: "2.0", id: plan.id, method: "tools/call", params: { ...paramsOf(plan, secret), ...meta } };
  return read(await client.post(call, session), secret, (question) => {
    const result = { roots: [{ uri: `file:///${secret}` }] };
    void client.post({ jsonrpc: "2.0", id: question.id, result }, session);
  });
}

/** Reads a response to its end. Checks that the progress notifications before it belong to this caller. */
async function read(
  answer: Awaited<ReturnType<RawHttp["post"]>>,
  secret: string,
  ask?: (question: RawMessage) => void,
): Promise<RawMessage> {
  if (answer.type === "application/json") return answer.json();
  for (;;) {
    const message = (await answer.next()) as RawMessage;
    if (!message.method) return message;
    if (message.method === "notifications/progress") expect(message.params?.message).toBe(secret);
    else ask?.(message);
  }
}

test("clients that use the same ids at the same time receive only their own replies", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 2, maxLength: 24 }), async (plans) => {
      await Promise.all(plans.map((each, index) => run(each, `client-${index}`)));
    }),
    { numRuns: 40 },
  );
});

test("one definition serves any number of clients in turn, and stores nothing of them", async () => {
  const { fetch, close } = toFetch(server, { sessions: { max: 5 } });
  const many = rawHttp("http://localhost/mcp", fetch);
  for (let count = 0; count < 200; count++) {
    const answer = await many.modern("tools/call", { name: "report", arguments: { secret: count } }, { id: 1 });
    expect((await answer.json()).id).toBe(1);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const opened = await many.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    expect(opened.status).toBe(200);
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    expect((await many.send({ method: "DELETE", headers })).status).toBe(204);
  }
  await close();
});

test("no schema is converted again for a call or a list", async () => {
  let converted = 0;
  const toJson = (): JsonObject => {
    converted++;
    return { type: "object" };
  };
  const schema = (): StandardSchema => ({
    "~standard": {
      version: 1,
      vendor: "counting",
      validate: (value) => ({ value }),
      jsonSchema: { input: toJson, output: toJson },
    },
  });
  const tools = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`tool${index}`, tool({ input: schema(), call: () => "" })]),
  );
  const wide = rawHttp("http://localhost/mcp", toFetch(createServer({ name: "test", version: "1.0.0", tools })).fetch);
  expect(converted).toBe(0);
  for (let count = 0; count < 50; count++) {
    const called = await wide.modern("tools/call", { name: `tool${count}`, arguments: {} });
    expect((await called.json()).result).toHaveProperty("content");
    expect((await (await wide.modern("tools/list")).json()).result.tools).toHaveLength(1000);
  }
  expect(converted).toBe(1000);
});

test("modern requests open no session and leave no state", async () => {
  const core = coreOf(server);
  const listening = core.changes.size;
  const endpoint = new Endpoint(core, {});
  const own = rawHttp("http://localhost/mcp", (request) => {
    const exchange = new FetchExchange(request);
    void endpoint.handle(exchange);
    return exchange.response;
  });
  for (let count = 0; count < 50; count++) {
    expect(await (await own.modern("tools/list")).json()).toHaveProperty("result");
  }
  expect(endpoint.sessions).toBe(0);
  expect(endpoint.inFlight).toBe(0);
  expect(core.changes.size).toBe(listening);
});
