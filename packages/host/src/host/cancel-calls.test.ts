import { createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { z } from "zod";
import type { CallActivity } from "../activity/active-calls.ts";
import type { Renderer } from "../renderer/renderer.ts";
import { callStep, scriptedModel, textStep } from "../testing/scripted-model.ts";
import { createHost } from "./create-host.ts";

const input = z.object({});
const shop = createServer({
  name: "shop",
  version: "1.0.0",
  tools: {
    order: tool({
      description: "Orders.",
      input,
      async call(_input, ctx) {
        await ctx.elicit({ message: "How many?", schema: z.object({ count: z.number() }) });
        return "Ordered.";
      },
    }),
  },
});
const messages = [{ role: "user", content: "Order." }] as const;

/** Returns a method of a renderer that never answers, and the signals that it received. */
function unanswered() {
  const signals: AbortSignal[] = [];
  const ask = (_request: unknown, signal: AbortSignal): Promise<never> => {
    signals.push(signal);
    return new Promise(() => {});
  };
  return { signals, ask };
}

test.each(["2025-11-25", "2026-07-28"])(
  "cancelCalls withdraws the form of a call of a server of revision %s, and the run continues",
  async (revision) => {
    const { signals, ask } = unanswered();
    const model = scriptedModel([callStep([{ name: "shop__order" }]), textStep("Nothing was ordered.")]);
    await using host = await createHost({
      folder: false,
      servers: { shop: { target: shop, revision } },
      policy: { review: "changes", rules: [{ decision: "allow" }] },
      renderer: { form: ask },
      model,
    });
    const run = host.run({ messages });
    const activities: CallActivity[] = [];
    for await (const event of run) {
      if (event.type === "activity" && activities.push(event.activity) === 2) expect(run.cancelCalls()).toBe(1);
    }
    expect((await run.finished).reason).toBe("answered");
    expect(activities).toEqual([
      { type: "sent" },
      { type: "input-request", kind: "form", state: "waiting" },
      { type: "input-request", kind: "form", state: "declined" },
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(JSON.stringify(model.requests[1])).toContain("The user cancelled the call.");
  },
);

test("cancelCalls withdraws the question for approval and those behind it, and a later one is asked", async () => {
  const { signals, ask } = unanswered();
  const calls = ["1", "2"].map((id) => ({ name: "shop__order", id }));
  const model = scriptedModel([callStep(calls), callStep(calls.slice(0, 1)), textStep("Denied.")]);
  const renderer: Renderer = {
    form: ask,
    approve: (request, signal) => (signals.length === 0 ? ask(request, signal) : { action: "deny" }),
  };
  await using host = await createHost({
    folder: false,
    servers: { shop },
    policy: { review: "changes" },
    renderer,
    model,
  });
  const run = host.run({ messages });
  const cancelled: number[] = [];
  for await (const event of run) {
    if (event.type === "activity" && signals.length === 1 && cancelled.length === 0) cancelled.push(run.cancelCalls());
  }
  expect(cancelled).toEqual([2]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(JSON.stringify(model.requests[1])).toContain("The server did not run it.");
  expect(JSON.stringify(model.requests[2])).toContain("consent was denied");
  expect((await run.finished).reason).toBe("answered");
});
