import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import type { Context } from "../core/context.ts";

const modern = "2026-07-28";
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

const serverOf = (call: (ctx: Context) => string | Promise<string>) =>
  createServer({ name: "asker", version: "1", tools: { ask: tool({ call: (_, ctx) => call(ctx) }) } });

describe("ctx.can returns whether the revision has a request and the client declared it", () => {
  const kinds = ["elicit", "elicit.url", "sample", "sample.tools", "roots"] as const;
  const report = serverOf((ctx) => kinds.filter((kind) => ctx.can(kind)).join(" "));

  test.each([
    ["2024-11-05", everything, "sample roots"],
    ["2025-03-26", everything, "sample roots"],
    ["2025-06-18", everything, "elicit sample roots"],
    ["2025-11-25", everything, "elicit elicit.url sample sample.tools roots"],
    [modern, everything, "elicit elicit.url sample sample.tools roots"],
    [modern, {}, ""],
    [modern, { elicitation: {} }, "elicit"],
    [modern, { elicitation: { url: {} } }, "elicit.url"],
    [modern, { sampling: {} }, "sample"],
  ])("%s with %j: %s", async (version, capabilities, expected) => {
    const peer = await openPeer(report, version, capabilities);
    expect((await peer.request("tools/call", { name: "ask" })).result.content).toMatchObject([{ text: expected }]);
  });
});

test("elicit on a revision without it throws the same error as for a missing capability", async () => {
  const errors: unknown[] = [];
  const ask = serverOf(async (ctx) => {
    await ctx.elicit({ message: "?", schema: z.object({}) }).catch((error: unknown) => errors.push(error));
    return "";
  });
  for (const [version, capabilities] of [["2025-03-26", everything] as const, ["2025-06-18", {}] as const]) {
    const peer = await openPeer(ask, version, capabilities);
    await peer.request("tools/call", { name: "ask" });
  }
  const data = { requiredCapabilities: { elicitation: { form: {} } } };
  expect(errors).toMatchObject([
    { code: -32021, message: expect.stringContaining("which revision 2025-03-26 does not have"), data },
    { code: -32021, message: expect.stringContaining("which the client has not declared"), data },
  ]);
});
