import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createServer, tool } from "mcparley/server";
import { fakeClock } from "mcparley/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LanguageModel } from "../model/language-model.ts";
import { type EndpointReply, chunk, openAiEndpoint } from "mcparley-tests/support/openai-endpoint.ts";
import { callStep, scriptedModel, textStep } from "../testing/scripted-model.ts";
import { createHost } from "./create-host.ts";
import type { HostEvent, HostOptions } from "./host.ts";

const steps = createServer({
  name: "steps",
  version: "1.0.0",
  tools: {
    work: tool({ call: () => "worked" }),
    think: tool({
      call: async (_, ctx) => {
        const { content } = await ctx.sample({
          messages: [{ role: "user", content: { type: "text", text: "Think." } }],
          maxTokens: 50,
        });
        return JSON.stringify(content);
      },
    }),
  },
});

type Retry = HostEvent & { type: "retry" };

/** Creates a host whose delays pass at once, and which records them. */
async function hostWith(model: LanguageModel, options: HostOptions = {}) {
  const clock = fakeClock();
  const retries: Retry[] = [];
  const host = await createHost({
    folder: false,
    clock,
    model,
    servers: { steps },
    policy: { review: "changes", rules: [{ decision: "allow" }] },
    renderer: { sample: () => ({ action: "allow" }), sampled: () => ({ action: "allow" }) },
    ...options,
    onEvent: (event) => {
      if (event.type !== "retry") return;
      retries.push(event);
      setImmediate(() => void clock.advance(event.retry.delay));
    },
  });
  onTestFinished(() => host.close());
  return { host, clock, retries };
}

const apiError = (statusCode: number, message = "No."): Error => Object.assign(new Error(message), { statusCode });
const always = (error: Error): Error[] => Array.from({ length: 9 }, () => error);

describe("a run", () => {
  test("repeats a failed request in the same step, and reports it", async () => {
    const model = scriptedModel([callStep([{ name: "steps__work" }]), apiError(429), textStep("done")]);
    const { host, retries } = await hostWith(model);
    const conversation = host.conversation();
    conversation.user("Work.");
    const { reason, messages, unanswered } = await host.run({ conversation }).finished;
    expect({ reason, unanswered }).toEqual({ reason: "answered", unanswered: undefined });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(retries).toMatchObject([{ server: undefined, retry: { status: 429, nextTry: 2, maxTries: 4 } }]);
    expect(model.requests[2]).toEqual(model.requests[1]);
  });

  test("that fails leaves no trace in the conversation, and returns the message", async () => {
    const model = scriptedModel([apiError(400), textStep("hello")]);
    const { host } = await hostWith(model);
    const conversation = host.conversation();
    conversation.user("One.");
    const running = host.run({ conversation });
    const types: string[] = [];
    for await (const { type } of running) types.push(type);
    // A refused request has no tokens to report.
    expect(types).toEqual(["step", "end"]);
    const failed = await running.finished;
    const one = { role: "user", content: "One." };
    expect(failed).toMatchObject({ reason: "error", messages: [], unanswered: one, usage: { inputTokens: 0 } });
    expect(conversation.toJSON().messages).toEqual([]);
    conversation.user("Two.");
    await host.run({ conversation }).finished;
    expect(model.requests[1]?.prompt.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(conversation.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("that fails can be repeated with the returned message", async () => {
    const model = scriptedModel([apiError(400), textStep("hello")]);
    const { host } = await hostWith(model);
    const messages = [
      { role: "user", content: "One." },
      { role: "assistant", content: [{ type: "text", text: "Yes?" }] },
      { role: "user", content: [{ type: "text", text: "Two." }] },
    ] as const;
    const failed = await host.run({ messages }).finished;
    expect(failed.messages).toEqual(messages.slice(0, 2));
    expect(failed.unanswered).toEqual(messages[2]);
    const end = await host.run({ messages: [...failed.messages, failed.unanswered!] }).finished;
    expect(end.messages.slice(0, 3)).toEqual(messages);
  });

  test("that fails after a call keeps the call, its result and the message", async () => {
    const model = scriptedModel([callStep([{ name: "steps__work" }]), apiError(400), textStep("done")]);
    const { host } = await hostWith(model);
    const conversation = host.conversation();
    conversation.user("Work.");
    const failed = await host.run({ conversation }).finished;
    expect(failed.reason).toBe("error");
    expect(failed.unanswered).toBeUndefined();
    expect(conversation.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(JSON.stringify(conversation.messages)).toContain("worked");
    // The run can be repeated as it is.
    expect((await host.run({ conversation }).finished).reason).toBe("answered");
    expect(model.requests[2]?.prompt).toEqual(model.requests[1]?.prompt);
  });

  test("that fails keeps the result of a call of the user, and the messages that were added during the run", async () => {
    const failing = (): Error => {
      conversation.user("Later.");
      return apiError(400);
    };
    const { host } = await hostWith(scriptedModel([apiError(400), failing]));
    await host.ready();
    const conversation = host.conversation();
    await conversation.callTool("steps__work", {});
    await host.run({ conversation }).finished;
    expect(conversation.messages).toHaveLength(1);
    conversation.user("And now?");
    expect((await host.run({ conversation }).finished).unanswered).toMatchObject({ content: "And now?" });
    expect(conversation.messages.slice(1)).toEqual([{ role: "user", content: "Later." }]);
  });

  test("does not keep the messages of another conversation that replaced its own during the run", async () => {
    const answer = (): ReturnType<typeof textStep> => {
      conversation.replace([
        { role: "user", content: "Another." },
        { role: "user", content: "Conversation." },
      ]);
      return textStep("done");
    };
    const { host } = await hostWith(scriptedModel([answer]));
    const conversation = host.conversation();
    conversation.user("Work.");
    const { messages } = await host.run({ conversation }).finished;
    expect(conversation.messages).toEqual(messages);
    expect(JSON.stringify(messages)).not.toContain("nother");
  });

  test("ends after the number of tries of the host", async () => {
    const model = scriptedModel(always(apiError(503)));
    const { host, retries } = await hostWith(model, { modelTries: 2 });
    const { error } = await host.run({ messages: [{ role: "user", content: "Hi" }] }).finished;
    expect(error?.message).toContain("(HTTP status 503): No. The request was sent 2 times.");
    expect(retries).toHaveLength(1);
    expect(model.requests).toHaveLength(2);
  });

  test("that is cancelled during a delay ends at once", async () => {
    const model = scriptedModel(always(apiError(503)));
    const { host } = await hostWith(model);
    const stop = new AbortController();
    host.subscribe(({ type }) => type === "retry" && stop.abort());
    const { reason } = await host.run({ messages: [{ role: "user", content: "Hi" }], signal: stop.signal }).finished;
    expect(reason).toBe("cancelled");
    expect(model.requests).toHaveLength(1);
  });

  test("reports a failed try without known secrets", async () => {
    const secret = "sk-4711-0815-abcdef-XYZ-42";
    const model = scriptedModel([apiError(503, `No, ${secret}.`), textStep("hello")]);
    const target = { url: "http://127.0.0.1:9/mcp", headers: { authorization: `Bearer ${secret}` } };
    const { host, retries } = await hostWith(model, { servers: { wiki: { target, disabled: true } } });
    await host.run({ messages: [{ role: "user", content: "Hi" }] }).finished;
    expect(retries[0]?.retry.error.message).toContain("(HTTP status 503): No,");
    expect(JSON.stringify([retries, retries[0]?.retry.error.message])).not.toContain(secret);
  });
});

test("a sampling request of a server is repeated, and the event names the server", async () => {
  const model = scriptedModel([apiError(503), textStep("I think.")]);
  const { host, retries } = await hostWith(model);
  await host.ready();
  expect(JSON.stringify(await host.callTool("steps__think", {}))).toContain("I think.");
  expect(retries).toMatchObject([{ server: "steps", retry: { status: 503 } }]);
});

test.each([0, 1.5, -1, NaN])("%s is refused as the number of tries", async (modelTries) => {
  await expect(createHost({ folder: false, modelTries })).rejects.toThrow(
    "`modelTries` must be a whole number of at least 1",
  );
});

describe("a model of @ai-sdk/openai-compatible", () => {
  const hello: EndpointReply = { chunks: [chunk({ content: "Hello." }), chunk({}, "stop")] };
  const failure = (status: number, headers: Record<string, string> = {}): EndpointReply => ({
    status,
    headers,
    body: { error: { message: "Not now." } },
  });

  async function converse(...replies: EndpointReply[]) {
    const endpoint = await openAiEndpoint(replies);
    onTestFinished(endpoint.close);
    const provider = createOpenAICompatible({ name: "local", baseURL: endpoint.url, apiKey: "none" });
    const { host, retries } = await hostWith(provider("test-model"), { servers: {} });
    const conversation = host.conversation();
    conversation.user("Hi");
    const end = await host.run({ conversation }).finished;
    return { end, conversation, delays: retries.map(({ retry }) => retry.delay), sent: endpoint.requests.length };
  }

  test("is asked again after the time of 429, once after 500, and after broken connections", async () => {
    const { end, delays, sent } = await converse(failure(429, { "retry-after": "3" }), failure(500), "reset", hello);
    expect(end).toMatchObject({ reason: "answered", messages: [{}, { content: [{ text: "Hello." }] }] });
    expect(delays).toEqual([3000, expect.any(Number), expect.any(Number)]);
    expect(sent).toBe(4);
  });

  test.each<[string, EndpointReply]>([
    ["is reset", { chunks: ["reset"] }],
    ["ends", { chunks: ["end"] }],
    ["ends after the role", { chunks: [chunk({ role: "assistant" }), "end"] }],
  ])("is asked again if its stream %s before the answer", async (_name, reply) => {
    const { end, sent } = await converse(reply, hello);
    expect(end.error).toBeUndefined();
    expect(end.reason).toBe("answered");
    expect(sent).toBe(2);
  });

  test.each<[string, EndpointReply]>([
    ["is reset", { chunks: [chunk({ content: "The first" }), "reset"] }],
    ["ends", { chunks: [chunk({ content: "The first" }), "end"] }],
  ])("is not asked again if its stream %s within the answer, whose start is kept", async (_name, reply) => {
    const { end, conversation, sent } = await converse(reply, hello);
    expect(end.reason).toBe("error");
    expect(end.unanswered).toBeUndefined();
    expect(conversation.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ text: "The first" }] },
    ]);
    expect(sent).toBe(1);
  });

  test("that answers 429 for ever is asked as often as stated", async () => {
    const { end, conversation, sent } = await converse(...Array.from({ length: 9 }, () => failure(429)));
    expect(end.error?.message).toBe(
      'The model "local.chat/test-model" failed (HTTP status 429): Not now. The request was sent 4 times.',
    );
    expect(sent).toBe(4);
    expect(conversation.messages).toEqual([]);
  });

  test.each([400, 404])("that answers %d is asked once", async (status) => {
    expect((await converse(failure(status), hello)).sent).toBe(1);
  });
});
