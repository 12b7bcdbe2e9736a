import { describe, expect, test } from "vitest";
import { isRequest } from "../../rpc/messages.ts";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import type { Context } from "../core/context.ts";
import { inputRequired } from "../core/input-required.ts";

const modern = "2026-07-28";
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const hi = { role: "user", content: { type: "text", text: "hi" } } as const;
const sampled = { messages: [hi], maxTokens: 10 };
const elicited = { message: "Who?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } };

/** Calls a tool whose handler makes an input request. */
async function ask(revision: string, call: (ctx: Context) => unknown) {
  const reported: string[] = [];
  const tools = { ask: tool({ call: (_, ctx) => call(ctx) as string }) };
  const onError = (error: unknown): void => void reported.push((error as Error).message);
  const server = createServer({ name: "test", version: "1.0.0", tools, onError });
  const peer = await openPeer(server, revision, everything);
  const answer = peer.request("tools/call", { name: "ask" });
  return { first: await Promise.race([answer, peer.next(isRequest)]), reported };
}

const urls = [
  "javascript:alert(1)",
  "file:///etc/passwd",
  "data:text/html,x",
  "vscode://settings",
  "http://example.com/",
  "https://example.com@evil.example/",
];

const invalidSampling: [params: object, where: string][] = [
  [{ ...sampled, maxTokens: undefined }, "maxTokens"],
  [{ ...sampled, maxTokens: 1.5 }, "maxTokens"],
  [{ ...sampled, maxTokens: Number.NaN }, "maxTokens"],
  [{ ...sampled, messages: "hi" }, "messages"],
  [{ ...sampled, messages: [{ ...hi, role: "system" }] }, "messages[0].role"],
  [{ ...sampled, messages: [{ ...hi, content: { type: "image", data: "AAAA" } }] }, "messages[0].content.mimeType"],
  [{ ...sampled, temperature: Number.NaN }, "temperature"],
  [{ ...sampled, modelPreferences: { costPriority: 5 } }, "modelPreferences.costPriority"],
  [{ ...sampled, tools: [{ name: "t", inputSchema: { type: "strng" } }] }, "tools[0].inputSchema"],
  [{ ...sampled, _meta: { "a b": 1 } }, "_meta"],
];

describe.each([modern, "2025-11-25"])("on revision %s", (revision) => {
  test.each(urls)("elicit does not send %s", async (url) => {
    const { first, reported } = await ask(revision, (ctx) => ctx.elicit({ message: "Pay.", url }));
    expect(first).toMatchObject({ error: { code: -32603 } });
    expect(reported).toEqual([expect.stringContaining("url must")]);
  });

  test.each(urls)("inputRequired does not send %s", async (url) => {
    const params = { mode: "url", message: "Pay.", url };
    const { first } = await ask(revision, () =>
      inputRequired({ inputRequests: { a: { method: "elicitation/create", params } } }),
    );
    expect(first).toMatchObject({ error: { code: -32603 } });
  });

  test.each(["https://example.com/pay", "http://localhost:3000/", "http://127.0.0.1/"])(
    "elicit sends %s",
    async (url) => {
      const { first } = await ask(revision, (ctx) => ctx.elicit({ message: "Pay.", url }));
      expect(first).not.toHaveProperty("error");
    },
  );

  test.each(invalidSampling)("sample is refused: %j", async (params, where) => {
    const { first, reported } = await ask(revision, (ctx) => ctx.sample(params as never));
    expect(first).toMatchObject({ error: { code: -32603 } });
    expect(reported).toEqual([expect.stringContaining(where)]);
  });

  test.each([
    ["sampling/createMessage", { messages: [hi] }],
    ["elicitation/create", { ...elicited, message: 5 }],
    ["elicitation/create", { ...elicited, requestedSchema: { type: "object", properties: { a: { type: "object" } } } }],
    ["elicitation/create", { ...elicited, mode: "page" }],
  ])("inputRequired is refused with invalid params: %s %j", async (method, params) => {
    const { first } = await ask(revision, () => inputRequired({ inputRequests: { a: { method, params } } }));
    expect(first).toMatchObject({ error: { code: -32603 } });
  });

  test.each([
    ["sampling/createMessage", sampled],
    ["elicitation/create", elicited],
    ["roots/list", {}],
  ])("inputRequired sends valid params: %s", async (method, params) => {
    const { first } = await ask(revision, () => inputRequired({ inputRequests: { a: { method, params } } }));
    expect(first).not.toHaveProperty("error");
  });
});
