import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createServer, prompt, resource, tool } from "mcparley/server";
import { fakeClock } from "mcparley/testing";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import type { Decision } from "../consent/policy.ts";
import type { HostEvent, HostOptions } from "./host.ts";
import type { RunEvent } from "../loop/run-events.ts";
import { callStep, scriptedModel, textStep } from "../testing/scripted-model.ts";
import { createHost } from "./create-host.ts";

const sums = createServer({
  name: "sums",
  version: "1.0.0",
  instructions: "Use whole numbers.",
  tools: {
    add: tool({
      description: "Adds two numbers.",
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      call: ({ a, b }) => ({ sum: a + b }),
    }),
  },
  prompts: { greet: prompt({ arguments: { name: { required: true } }, get: ({ name }) => `Hello ${name}!` }) },
  resources: { memo: resource("memo://a", { read: () => "memo a" }) },
});

const allowing: HostOptions = {
  folder: false,
  servers: { sums },
  policy: { review: "changes", rules: [{ decision: "allow" }] },
};

test("calls a tool of a server", async () => {
  await using host = await createHost(allowing);
  const catalogue = await host.ready();
  expect(catalogue.tools.map(({ name }) => name)).toEqual(["sums__add"]);
  expect(await host.callTool("sums__add", { a: 1, b: 2 })).toMatchObject({
    status: "result",
    result: { structuredContent: { sum: 3 } },
  });
});

test("reads a resource, expands a prompt and attaches both to a conversation", async () => {
  await using host = await createHost(allowing);
  await host.ready();
  expect(await host.readResource("sums", "memo://a")).toMatchObject({ contents: [{ text: "memo a" }] });
  expect(await host.getPrompt("sums:greet", { name: "Ada" })).toMatchObject({ messages: [{ role: "user" }] });
  const conversation = host.conversation();
  await conversation.attach({ server: "sums", uri: "memo://a" });
  await conversation.prompt("sums:greet", { name: "Ada" });
  expect(JSON.stringify(conversation.messages)).toMatch(/memo a.*Hello Ada!/s);
});

test("runs the model with the tools and the accepted instructions of the servers", async () => {
  const model = scriptedModel([callStep([{ name: "sums__add", input: { a: 1, b: 2 } }]), textStep("Three.")]);
  await using host = await createHost({ ...allowing, model });
  const events: RunEvent[] = [];
  const run = host.run({ messages: [{ role: "user", content: "1 + 2?" }] });
  for await (const event of run) events.push(event);
  expect((await run.finished).reason).toBe("answered");
  expect(events.map(({ type }) => type)).toEqual([
    "step",
    "usage",
    "call",
    "activity",
    "result",
    "step",
    "text",
    "text",
    "usage",
    "end",
  ]);
  expect(JSON.stringify(model.requests[0])).toContain("Use whole numbers.");
  expect(JSON.stringify(model.requests[1])).toMatch(/sum.{1,6}3/);
});

test("denies calls without a renderer and a rule, and records the decision", async () => {
  const onEvent = vi.fn<(event: HostEvent) => void>();
  await using host = await createHost({ folder: false, servers: { sums }, policy: { review: "changes" }, onEvent });
  await host.ready();
  expect(await host.callTool("sums__add", { a: 1, b: 2 })).toMatchObject({ status: "denied" });
  expect(onEvent.mock.calls.map(([event]) => event)).toContainEqual({
    type: "decision",
    decision: expect.objectContaining({ subject: "call", outcome: "denied", by: "no-renderer", name: "add" }) as object,
  });
});

test("ready() waits for the user who reviews definitions, also if that takes longer than the limit", async () => {
  const clock = fakeClock();
  let answer = (): void => {};
  const review = vi.fn(
    () => new Promise<{ accepted: "all" }>((resolve) => (answer = () => resolve({ accepted: "all" }))),
  );
  await using host = await createHost({ folder: false, servers: { sums }, renderer: { review }, clock });
  const isReady = vi.fn();
  const ready = host.ready({ wait: 1_000 }).then(isReady);
  await vi.waitFor(() => expect(review).toHaveBeenCalledTimes(1));
  await clock.advance(1_000);
  await clock.advance(60_000);
  expect(isReady).not.toHaveBeenCalled();
  answer();
  await ready;
  expect(host.catalogue.tools.map(({ name }) => name)).toEqual(["sums__add"]);
});

test("ready() resolves after the limit if a server is hung", async () => {
  const clock = fakeClock();
  const hung = { name: "hung", attach: () => Promise.resolve() };
  await using host = await createHost({ ...allowing, servers: { sums, hung }, clock });
  let isReady = false;
  const ready = host.ready({ wait: 1_000 }).then(() => (isReady = true));
  await vi.waitFor(() => expect(host.catalogue.tools).toHaveLength(1));
  expect(isReady).toBe(false);
  await clock.advance(1_000);
  await ready;
});

test("a rule that another process adds to the folder holds for calls that start a second later", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley host "));
  const writeRules = (decision: Decision): void => {
    writeFileSync(path.join(folder, "policy.json"), JSON.stringify({ rules: [{ decision }] }), { mode: 0o600 });
  };
  try {
    writeRules("allow");
    const clock = fakeClock();
    const policy = { review: "changes", trust: "configured" } as const;
    await using host = await createHost({ folder, servers: { sums }, policy, clock });
    await host.ready();
    const call = async (): Promise<string> => (await host.callTool("sums__add", { a: 1, b: 2 })).status;
    expect(await call()).toBe("result");
    writeRules("deny");
    await clock.advance(999);
    expect(await call()).toBe("result");
    await clock.advance(1);
    expect(await call()).toBe("denied");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
