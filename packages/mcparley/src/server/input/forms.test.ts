import { describe, expect, test } from "vitest";
import { z } from "zod";
import { accept, callAnswering, serverOf, textOf } from "mcparley-tests/support/asking-server.ts";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Context } from "../core/context.ts";
import { inputRequired } from "../core/input-required.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";

type Asking = [string, (ctx: Context) => unknown, unknown];

const asksForUrl: Asking = ["a URL", (ctx) => ctx.elicit({ message: "?", url: "https://example.com" }), undefined];

describe.each(["2025-06-18", "2025-11-25", "2026-07-28"])("members that were not requested, on %s", (version) => {
  const schema = { type: "object", properties: { name: { type: "string" }, size: { type: "integer", default: 3 } } };
  const isModern = version === "2026-07-28";
  const accepted = accept({ name: "Ann", nested: { x: 1 }, role: "admin" });

  test.each<Asking>([
    ["a JSON Schema", (ctx) => ctx.elicit({ message: "?", schema }), { name: "Ann" }],
    [
      "a schema that accepts any member",
      (ctx) => ctx.elicit({ message: "?", schema: z.looseObject({ name: z.string() }) }),
      { name: "Ann" },
    ],
    ...(version === "2025-06-18" ? [] : [asksForUrl]),
  ])("do not reach the handler: %s", async (_, ask, expected) => {
    let answer: unknown = "none";
    const server = serverOf(async (ctx) => {
      answer = await ask(ctx);
      return "asked";
    });
    const peer = await openPeer(server, version, { elicitation: { form: {}, url: {} } });
    expect(textOf(await callAnswering(peer, isModern, [{ "elicitation/create": accepted }]))).toBe("asked");
    expect(answer).toEqual(expected);
  });

  test.each([
    ["a form", { message: "?", requestedSchema: schema }, accept({ name: "Ann" })],
    ["a form without fields", { message: "?", requestedSchema: { type: "object", properties: {} } }, accept({})],
    ...(version === "2025-06-18"
      ? []
      : [
          [
            "a URL",
            { mode: "url", message: "?", url: "https://example.com", elicitationId: "a" },
            { action: "accept" },
          ],
        ]),
  ] as [string, JsonObject, unknown][])(
    "do not reach a handler that reads the answer to %s itself",
    async (_, params, expected) => {
      const server = serverOf((ctx) => {
        if (ctx.inputResponses.q) return JSON.stringify(ctx.inputResponses);
        return inputRequired({ inputRequests: { q: { method: "elicitation/create", params } } });
      });
      const peer = await openPeer(server, version, { elicitation: { form: {}, url: {} } });
      const text = textOf(await callAnswering(peer, isModern, [{ "elicitation/create": accepted }]));
      expect(JSON.parse(String(text))).toEqual({ q: expected });
    },
  );

  test("do not reach a handler that reads the answer to ctx.elicit itself", async () => {
    const server = serverOf(async (ctx) => {
      await ctx.elicit({ message: "?", schema, key: "q" });
      return JSON.stringify(ctx.inputResponses);
    });
    const peer = await openPeer(server, version, { elicitation: {} });
    const text = textOf(await callAnswering(peer, isModern, [{ "elicitation/create": accepted }]));
    expect(JSON.parse(String(text))).toEqual(isModern ? { q: accept({ name: "Ann" }) } : {});
  });
});

test("a form with a required name that it does not define is refused before the user is asked", async () => {
  const errors: unknown[] = [];
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["b"] };
  const server = createServer({
    name: "s",
    version: "1",
    onError: (error) => errors.push(error),
    tools: { ask: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema })) }) },
  });
  for (const version of ["2025-11-25", "2026-07-28"]) {
    const peer = await openPeer(server, version, { elicitation: {} });
    expect(await peer.request("tools/call", { name: "ask" })).toHaveProperty("error.code", -32603);
    expect(peer.received.filter(({ method }) => method === "elicitation/create")).toEqual([]);
  }
  const message = expect.stringContaining('The property "b" is required, and the schema does not define it.') as string;
  expect(errors).toMatchObject([{ message }, { message }]);
});
