import { createServer, tool } from "mcparley/server";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import type { CallActivity } from "../activity/active-calls.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../renderer/renderer.ts";
import { scriptedModel, textStep } from "../testing/scripted-model.ts";
import type { Host } from "./host.ts";
import { createHost } from "./create-host.ts";

const input = z.object({ a: z.number(), b: z.number() });
const add = tool({ description: "Adds two numbers.", input, call: ({ a, b }) => `The sum is ${a + b}.` });
const sums = createServer({ name: "sums", version: "1.0.0", tools: { add } });

/** Returns a host whose renderer answers with `approve`. */
async function hostWith(approve: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>) {
  const model = scriptedModel([textStep("Three.")]);
  const options = { folder: false, servers: { sums }, policy: { review: "changes" }, model } as const;
  const host: Host = await createHost({ ...options, renderer: { approve } });
  await host.ready();
  return { host, model };
}

test("a call of the user is asked for with the user as the requester, and its result reaches the model", async () => {
  const approve = vi.fn<(request: ApprovalRequest) => Promise<ApprovalAnswer>>(async () => ({ action: "allow" }));
  const { host, model } = await hostWith(approve);
  const conversation = host.conversation();
  const activities: CallActivity[] = [];
  const onActivity = (activity: CallActivity): void => void activities.push(activity);
  const { outcome } = await conversation.callTool("sums__add", { a: 1, b: 2 }, { onActivity });
  expect(outcome.status).toBe("result");
  expect(approve.mock.calls.map(([{ origin }]) => origin.by)).toEqual(["user"]);
  expect(activities).toEqual([
    { type: "approval", state: "waiting" },
    { type: "approval", state: "approved" },
    { type: "sent" },
  ]);
  await host.run({ conversation }).finished;
  expect(JSON.stringify(model.requests[0])).toMatch(/The user called the tool sums__add.*The sum is 3\./);
  await host.close();
});

test("arguments that the user edited are part of the outcome and of the message", async () => {
  const { host } = await hostWith(async () => ({ action: "allow", arguments: { a: 5, b: 5 } }));
  const { outcome, message } = await host.conversation().callTool("sums__add", { a: 1, b: 2 });
  expect(outcome).toMatchObject({ editedArguments: { a: 5, b: 5 } });
  expect(JSON.stringify(message)).toMatch(/arguments \{\\"a\\":5,\\"b\\":5\}.*The sum is 10\./);
  expect(await host.callTool("sums__add", { a: 5, b: 5 })).not.toHaveProperty("editedArguments");
  await host.close();
});

test("arguments that the user edited are not sent if the input schema of the tool refuses them", async () => {
  const { host } = await hostWith(async () => ({ action: "allow", arguments: { a: 5, b: "six" } }));
  const { outcome } = await host.conversation().callTool("sums__add", { a: 1, b: 2 });
  expect(outcome).toMatchObject({
    status: "failed",
    mayHaveRun: false,
    message: expect.stringContaining("/b must be number"),
  });
  await host.close();
});

test("an aborted call of the user withdraws its question, and adds no message", async () => {
  const controller = new AbortController();
  const asked: AbortSignal[] = [];
  const { host } = await hostWith((_request, signal) => {
    asked.push(signal);
    controller.abort(new Error("The user left."));
    return new Promise(() => {});
  });
  const conversation = host.conversation();
  const call = conversation.callTool("sums__add", { a: 1, b: 2 }, { signal: controller.signal });
  await expect(call).rejects.toThrow("The user left.");
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  expect(conversation.messages).toEqual([]);
  await host.close();
});
