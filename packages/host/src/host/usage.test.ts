import { createServer, tool } from "mcparley/server";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CallActivity } from "../activity/active-calls.ts";
import type { RunEvent } from "../loop/run-events.ts";
import type { LanguageModel } from "../model/language-model.ts";
import { callStep, finishPart, scriptedModel, textStep } from "../testing/scripted-model.ts";
import { createHost } from "./create-host.ts";
import type { HostEvent, HostOptions } from "./host.ts";

const thinker = createServer({
  name: "thinker",
  version: "1.0.0",
  tools: {
    think: tool({
      call: async (_, ctx) => {
        await ctx.sample({
          messages: [{ role: "user", content: { type: "text", text: "Think." } }],
          maxTokens: 50,
          modelPreferences: { hints: [{ name: "small" }] },
        });
        return "thought";
      },
    }),
  },
});

/** The usage of a provider, with all members. */
const detailed = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 100, noCache: 20, cacheRead: 70, cacheWrite: 10 },
    outputTokens: { total: 30, text: 10, reasoning: 20 },
  },
};
const large = { model: "acme/large", inputTokens: 10, outputTokens: 5 };
const details = { inputTokens: 100, outputTokens: 30, cacheReadTokens: 70, cacheWriteTokens: 10, reasoningTokens: 20 };
const sampling = { server: "thinker", model: "acme/small", ...details };

async function hostWith(models: readonly [LanguageModel, ...LanguageModel[]], options: HostOptions = {}) {
  const usages: (HostEvent & { type: "usage" })["usage"][] = [];
  const host = await createHost({
    folder: false,
    model: models,
    servers: { thinker },
    policy: { review: "changes", rules: [{ decision: "allow" }] },
    renderer: { sample: () => ({ action: "allow" }), sampled: () => ({ action: "allow" }) },
    ...options,
    onEvent: (event) => event.type === "usage" && usages.push(event.usage),
  });
  onTestFinished(() => host.close());
  return { host, usages };
}

const smallModel = () =>
  scriptedModel([[...textStep("Hm.").slice(0, -1), detailed]], { provider: "acme", modelId: "small" });
const largeModel = () =>
  scriptedModel([callStep([{ name: "thinker__think" }]), textStep("Done.")], { provider: "acme", modelId: "large" });

describe.each(["2025-11-25", "2026-07-28"] as const)("the tokens of a run (%s)", (revision) => {
  test("include those of sampling requests, by their origins", async () => {
    const servers = { thinker: { target: thinker, revision } };
    const { host, usages } = await hostWith([largeModel(), smallModel()], { servers });
    const events: RunEvent[] = [];
    const run = host.run({ messages: [{ role: "user", content: "Think." }] });
    for await (const event of run) events.push(event);
    const { usage } = await run.finished;
    expect(usage).toEqual({
      ...details,
      inputTokens: 120,
      outputTokens: 40,
      origins: [{ ...large, inputTokens: 20, outputTokens: 10 }, sampling],
    });
    expect(events.filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", step: 1, usage: large },
      { type: "usage", step: 1, usage: sampling },
      { type: "usage", step: 2, usage: large },
    ]);
    expect(events.filter((event) => event.type === "activity" && event.activity.type === "usage")).toEqual([]);
    expect(usages).toEqual([large, sampling, large]);
  });

  test("are limited without those of sampling requests", async () => {
    const servers = { thinker: { target: thinker, revision } };
    const { host } = await hostWith([largeModel(), smallModel()], { servers });
    const run = host.run({ messages: [{ role: "user", content: "Think." }], maxTokens: 16 });
    expect((await run.finished).reason).toBe("answered");
  });

  test("of a call of the user are an activity of the call and an event of the host", async () => {
    const servers = { thinker: { target: thinker, revision } };
    const { host, usages } = await hostWith([largeModel(), smallModel()], { servers });
    await host.ready();
    const activities: CallActivity[] = [];
    await host.callTool("thinker__think", {}, { onActivity: (activity) => activities.push(activity) });
    expect(activities).toContainEqual({ type: "usage", usage: sampling });
    expect(usages).toEqual([sampling]);
  });
});

test("the tokens of a sampling request that fails after the start of its answer are estimated", async () => {
  const model = scriptedModel([[...textStep("Hm, well.").slice(0, -1), new Error("broken")]], { modelId: "small" });
  const { host, usages } = await hostWith([model]);
  await host.ready();
  await host.callTool("thinker__think", {});
  expect(usages).toMatchObject([{ server: "thinker", isEstimated: true, outputTokens: expect.any(Number) as number }]);
});

test("a refused sampling request has no tokens", async () => {
  const model = scriptedModel([Object.assign(new Error("No."), { statusCode: 400 })], { modelId: "small" });
  const { host, usages } = await hostWith([model]);
  await host.ready();
  await host.callTool("thinker__think", {});
  expect(usages).toEqual([]);
});

test("the tokens of two calls at the same time belong to the run once each", async () => {
  const calls = callStep([
    { name: "thinker__think", id: "1" },
    { name: "thinker__think", id: "2" },
  ]);
  const largeOne = scriptedModel([calls, textStep("Done.")], { provider: "acme", modelId: "large" });
  const step = [...textStep("Hm.").slice(0, -1), finishPart("stop", { input: 7, output: 3 })];
  const small = scriptedModel([step, step], { provider: "acme", modelId: "small" });
  const { host } = await hostWith([largeOne, small]);
  const { usage } = await host.run({ messages: [{ role: "user", content: "Think." }] }).finished;
  expect(usage.origins.at(-1)).toEqual({ server: "thinker", model: "acme/small", inputTokens: 14, outputTokens: 6 });
});
