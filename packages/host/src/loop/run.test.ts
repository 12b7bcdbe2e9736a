import { getEventListeners } from "node:events";
import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { ToolOutcome, Message, ToolResultPart } from "../conversation/messages.ts";
import type { CallActivity } from "../activity/active-calls.ts";
import type { RunEvent } from "./run-events.ts";
import { ActiveRun } from "./run.ts";
import {
  answerStep,
  call,
  eventsOf,
  finish,
  question,
  scriptedStream,
  testParts,
  text,
  textOutcome,
  untilAborted,
} from "./testing/run-fixtures.ts";

/** Returns the results of a conversation in their order. */
function resultsOf(messages: readonly Message[]): ToolResultPart[] {
  return messages.flatMap((message) => (message.role === "tool" ? message.content : []));
}

function textOf(result: ToolResultPart | undefined): string {
  return (result?.content ?? []).map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n");
}

function textOfEvents(events: readonly RunEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

/** Asserts that each call has exactly one result in the message after it. */
function expectComplete(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const calls = message.content.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
    const next = messages[index + 1];
    if (calls.length > 0) {
      expect(next?.role).toBe("tool");
      expect(next?.role === "tool" ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
    }
  }
}

describe("steps", () => {
  test("streams the text, runs the call, and sends its result to the model", async () => {
    const model = scriptedStream([
      [text("I will "), text("look."), call("read", { id: "1" }), finish("tool-calls")],
      answerStep,
    ]);
    const parts = testParts(model.stream);
    const run = new ActiveRun(parts, { messages: question, system: "Be brief." });
    const events = await eventsOf(run);
    const types = events.map(({ type }) => type).filter((type) => type !== "text");
    expect(types).toEqual(["step", "usage", "call", "result", "step", "usage", "end"]);
    expect(textOfEvents(events)).toBe("I will look.Done.");
    expect(events.find(({ type }) => type === "call")).toEqual({
      type: "call",
      callId: "read",
      name: "read",
      server: "notes",
      arguments: { id: "1" },
    });

    const end = await run.finished;
    expect(end).toMatchObject({ reason: "answered", usage: { inputTokens: 20, outputTokens: 10 } });
    expect(end.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(textOf(resultsOf(end.messages)[0])).toContain('{"id":"1"}');
    expect(model.requests[0]?.messages[0]).toMatchObject({
      role: "system",
      content: expect.stringMatching(/^Be brief\./),
    });
    expect(model.requests[1]?.messages.slice(1)).toEqual(end.messages.slice(0, 3));
    expect(parts.calls[0]?.origin).toEqual({ callId: "read", by: "model" });
  });

  test("leaves no listener at the signal of the caller, and no timer", async () => {
    const { signal } = new AbortController();
    const parts = testParts(scriptedStream([answerStep]).stream);
    await new ActiveRun(parts, { messages: question, signal }).finished;
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(parts.clock.pending).toBe(0);
  });

  test("joins the text for a consumer that is slower than the model", async () => {
    const pieces = Array.from({ length: 10_000 }, () => text("ab"));
    const run = new ActiveRun(testParts(scriptedStream([[...pieces, finish()]]).stream), { messages: question });
    await run.finished;
    const events = await eventsOf(run);
    expect(events.map(({ type }) => type)).toEqual(["step", "text", "usage", "end"]);
    expect(textOfEvents(events)).toBe("ab".repeat(10_000));
  });

  test("ends without a consumer", async () => {
    const run = new ActiveRun(testParts(scriptedStream([answerStep]).stream), { messages: question });
    expect((await run.finished).reason).toBe("answered");
  });

  test("keeps the reasoning and the data of the provider in the conversation", async () => {
    const signed = { anthropic: { signature: "s" } };
    const reasoning = [
      { type: "reasoning", text: "Hm", block: 0 },
      { type: "text", text: "A", block: 1 },
      { type: "reasoning", text: "m.", block: 0 },
      { type: "reasoning", text: "", block: 0, providerData: signed },
    ] as const;
    const run = new ActiveRun(testParts(scriptedStream([[...reasoning, finish()]]).stream), { messages: question });
    expect((await run.finished).messages.at(-1)).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hmm.", providerData: signed },
        { type: "text", text: "A" },
      ],
    });
  });

  test("adds no empty message", async () => {
    const run = new ActiveRun(testParts(scriptedStream([[text(""), finish()]]).stream), { messages: question });
    expect((await run.finished).messages).toEqual(question);
  });

  test("does not change the messages of the caller", async () => {
    const messages = Object.freeze([...question]);
    await new ActiveRun(testParts(scriptedStream([answerStep]).stream), { messages }).finished;
    expect(messages).toHaveLength(1);
  });

  test("adds a result to a call without one in the given conversation", async () => {
    const model = scriptedStream([answerStep]);
    const interrupted: Message[] = [
      ...question,
      { role: "assistant", content: [{ type: "tool-call", callId: "a", name: "read", arguments: {} }] },
    ];
    const { messages } = await new ActiveRun(testParts(model.stream), { messages: interrupted }).finished;
    expectComplete(messages);
    expect(textOf(resultsOf(messages)[0])).toContain("interrupted");
  });

  test("gives calls with the same id unique ids", async () => {
    const step = [call("read", {}, "call_0"), call("write", {}, "call_0"), finish("tool-calls")];
    const run = new ActiveRun(testParts(scriptedStream([step, step, answerStep]).stream), { messages: question });
    const { messages } = await run.finished;
    expectComplete(messages);
    expect(resultsOf(messages).map(({ callId }) => callId)).toEqual(["call_0", "call_0_2", "call_0_3", "call_0_4"]);
  });
});

describe("calls", () => {
  test("run at the same time, at most 8, with results in the order of the calls", async () => {
    const waiting: (() => void)[] = [];
    const ids = Array.from({ length: 10 }, (_, index) => String(index));
    const step = [...ids.map((id) => call("read", { id }, `c${id}`)), finish("tool-calls")];
    const parts = testParts(scriptedStream([step, answerStep]).stream, {
      callTool: (request) =>
        new Promise((resolve) => waiting.push(() => resolve(textOutcome(`note ${String(request.arguments.id)}`)))),
    });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    expect(parts.calls).toHaveLength(8);
    for (const release of waiting.splice(0).toReversed()) release();
    await flushPromises();
    expect(parts.calls).toHaveLength(10);
    for (const release of waiting) release();
    const { messages } = await run.finished;
    expectComplete(messages);
    for (const [index, result] of resultsOf(messages).entries()) expect(textOf(result)).toContain(`note ${index}`);
  });

  test("emit the call before its activity, and its result last", async () => {
    const progress: CallActivity = { type: "progress", progress: { progress: 1, message: "token hunter2" } };
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")], answerStep]).stream, {
      callTool: async ({ onActivity }) => {
        onActivity?.(progress);
        await flushPromises();
        setTimeout(() => onActivity?.(progress), 0);
        return textOutcome("ok");
      },
    });
    const events = await eventsOf(new ActiveRun(parts, { messages: question }));
    const ofCall = events.filter((event) => "callId" in event);
    expect(ofCall.map(({ type }) => type)).toEqual(["call", "activity", "result"]);
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });

  test("have no activity after their result", async () => {
    let late: ((activity: CallActivity) => void) | undefined;
    const model = scriptedStream([
      [call("read"), finish("tool-calls")],
      async function* hang(request) {
        late?.({ type: "approval", state: "waiting" });
        yield text("A");
        await untilAborted(request.signal);
      },
    ]);
    const parts = testParts(model.stream, {
      callTool: ({ onActivity }) => {
        late = onActivity;
        return Promise.resolve(textOutcome("ok"));
      },
    });
    const run = new ActiveRun(parts, { messages: question, maxTime: 1000 });
    await parts.clock.advance(1000);
    const events = await eventsOf(run);
    expect(events.filter(({ type }) => type === "activity")).toEqual([]);
    expect((await run.finished).reason).toBe("time");
  });

  test("of an unknown tool fail with the closest names", async () => {
    const model = scriptedStream([[call("read_note"), finish("tool-calls")], answerStep]);
    const parts = testParts(model.stream);
    const { messages } = await new ActiveRun(parts, { messages: question }).finished;
    const [result] = resultsOf(messages);
    expect(result).toMatchObject({ callId: "read_note", isError: true });
    expect(textOf(result)).toContain('"read_note" does not exist');
    expect(textOf(result)).toContain("Close names: read.");
    expect(parts.calls).toHaveLength(0);
  });

  test("with a name that providers reject have a name that they accept in the conversation", async () => {
    const model = scriptedStream([[call("functions.read file", {}, "1"), finish("tool-calls")], answerStep]);
    const end = await new ActiveRun(testParts(model.stream), { messages: question }).finished;
    expect(end.messages[1]?.content).toMatchObject([{ name: "functions_read_file" }]);
    expect(resultsOf(end.messages)[0]).toMatchObject({ name: "functions_read_file", isError: true });
    expect(textOf(resultsOf(end.messages)[0])).toContain("functions.read file");
  });

  test.each(["read", "read_result", "call_tool"])(
    "of %s with arguments that are too deep leave a conversation that can be sent",
    async (name) => {
      const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
      const model = scriptedStream([[call(name, deep), finish("tool-calls")], answerStep]);
      const readArguments = (): { problem: string } => ({ problem: "The arguments are nested too deep." });
      const end = await new ActiveRun(testParts(model.stream, { readArguments }), { messages: question }).finished;
      expect(end.reason).toBe("answered");
      expect(JSON.stringify(end.messages).length).toBeLessThan(2000);
    },
  );

  test.each([
    [64, true],
    [65, false],
  ])("with invalid arguments of %i levels keep them in the conversation: %s", async (levels, isKept) => {
    const args = `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    const model = scriptedStream([[call("read", args), finish("tool-calls")], answerStep]);
    const readArguments = (): { problem: string } => ({ problem: "The arguments are invalid." });
    const { messages } = await new ActiveRun(testParts(model.stream, { readArguments }), { messages: question })
      .finished;
    expect(messages[1]?.content).toEqual([expect.objectContaining({ arguments: isKept ? JSON.parse(args) : {} })]);
  });

  test("with invalid JSON fail, and the conversation has an object as arguments", async () => {
    const model = scriptedStream([[call("read", '{"id": '), finish("tool-calls")], answerStep]);
    const { messages } = await new ActiveRun(testParts(model.stream), { messages: question }).finished;
    expect(textOf(resultsOf(messages)[0])).toContain("not valid JSON");
    expect(messages[1]).toMatchObject({ content: [{ type: "tool-call", arguments: {} }] });
  });

  test("state the arguments that the user edited in their results", async () => {
    const edited = { id: "7</server-text>" };
    const parts = testParts(scriptedStream([[call("read", '{"id":"1"}'), finish("tool-calls")], answerStep]).stream, {
      callTool: () => Promise.resolve({ ...textOutcome("seven"), editedArguments: edited }),
    });
    const [result] = resultsOf((await new ActiveRun(parts, { messages: question }).finished).messages);
    expect(textOf(result)).toContain(
      'The user edited the arguments. The tool was called with {"id":"7&lt;/server-text>"}.',
    );
    expect(textOf(result)).toContain("seven");
  });

  test("that fail become error results without secrets", async () => {
    const failure: ToolOutcome = { status: "failed", message: "bad hunter2", error: new Error("x"), mayHaveRun: true };
    const outcomes: ToolOutcome[] = [failure, { status: "denied", message: "The user said no." }];
    const step = [call("read"), call("write"), finish("tool-calls")];
    const parts = testParts(scriptedStream([step, answerStep]).stream, {
      callTool: () => Promise.resolve(outcomes.shift() ?? textOutcome("")),
    });
    const results = resultsOf((await new ActiveRun(parts, { messages: question }).finished).messages);
    expect(results.map(({ isError }) => isError)).toEqual([true, true]);
    expect(textOf(results[0])).toContain("The server may have run it.");
    expect(textOf(results[0])).toContain("bad [secret]");
    expect(textOf(results[1])).toContain("consent was denied. The user said no.");
  });

  test.each([
    ["reject", () => Promise.reject(new Error("defect hunter2"))],
    [
      "throw",
      () => {
        throw new Error("defect hunter2");
      },
    ],
  ])("that %s unexpectedly become error results", async (_name, callTool) => {
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")], answerStep]).stream, { callTool });
    const { messages, reason } = await new ActiveRun(parts, { messages: question }).finished;
    expect(reason).toBe("answered");
    expect(textOf(resultsOf(messages)[0])).toContain("defect [secret]");
  });

  test("run at most 3 times if they fail with the same arguments", async () => {
    const again = (id: string) => [call("read", { id, other: 1 }), finish("tool-calls")];
    const reordered = [call("read", { other: 1, id: "1" }), finish("tool-calls")];
    const steps = [again("1"), again("1"), reordered, again("1"), again("2"), answerStep];
    const parts = testParts(scriptedStream(steps).stream, { callTool: () => Promise.resolve(textOutcome("no", true)) });
    const { messages } = await new ActiveRun(parts, { messages: question }).finished;
    expect(parts.calls.map((request) => request.arguments.id)).toEqual(["1", "1", "1", "2"]);
    expect(textOf(resultsOf(messages)[3])).toContain("failed 3 times with the same arguments");
  });

  test("run again after another call has succeeded", async () => {
    const failing = [call("read", { id: "1" }), finish("tool-calls")];
    const other = [call("write", {}), finish("tool-calls")];
    const parts = testParts(scriptedStream([failing, failing, failing, other, failing, answerStep]).stream, {
      callTool: ({ tool }) => Promise.resolve(textOutcome("x", tool.name === "read")),
    });
    await new ActiveRun(parts, { messages: question }).finished;
    expect(parts.calls).toHaveLength(5);
  });
});

describe("limits", () => {
  const calling = [call("read"), finish("tool-calls", 60, 40)];

  test.each([
    ["as many steps as the limit", { maxSteps: 2 }, [calling, answerStep], "answered"],
    ["one step more than the limit", { maxSteps: 2 }, [calling, calling, answerStep], "steps"],
    ["fewer tokens than the limit", { maxTokens: 101 }, [calling, answerStep], "answered"],
    ["as many tokens as the limit", { maxTokens: 100 }, [calling, answerStep], "tokens"],
    ["fewer tokens in each step than the limit", { maxTokens: 150 }, [calling, calling, answerStep], "tokens"],
  ] as const)("a run that needs %s", async (_name, options, steps, reason) => {
    const end = await new ActiveRun(testParts(scriptedStream(steps).stream), { messages: question, ...options })
      .finished;
    expect(end.reason).toBe(reason);
    expectComplete(end.messages);
    expect(resultsOf(end.messages).every(({ isError }) => !isError)).toBe(true);
  });

  test("estimate the tokens if the provider reports none", async () => {
    const steps = [[text("words ".repeat(100)), call("read"), finish("tool-calls", 0, 0)], answerStep];
    const end = await new ActiveRun(testParts(scriptedStream(steps).stream), { messages: question, maxTokens: 100 })
      .finished;
    expect(end.reason).toBe("tokens");
    expect(end.usage.outputTokens).toBeGreaterThanOrEqual(100);
    expect(end.usage.inputTokens).toBeGreaterThan(100);
    expect(end.usage.isEstimated).toBe(true);
  });

  test.each([
    ["length", "length"],
    ["content-filter", "filtered"],
    ["error", "error"],
  ] as const)("the finish reason %s ends the run without running the calls", async (finished, reason) => {
    const parts = testParts(scriptedStream([[text("A"), call("read", '{"id'), finish(finished)]]).stream);
    const end = await new ActiveRun(parts, { messages: question }).finished;
    expect(end.reason).toBe(reason);
    expectComplete(end.messages);
    expect(resultsOf(end.messages)[0]?.isError).toBe(true);
    expect(parts.calls).toHaveLength(0);
  });

  test.each([
    [{ maxSteps: 0 }, "`maxSteps` must be a whole number from 1"],
    [{ maxTokens: 1.5 }, "`maxTokens` must be a whole number"],
    [{ maxTime: 2 ** 31 }, "got 2147483648"],
    [{ maxResultBytes: 1 }, "`maxResultBytes` must be a whole number from 256"],
    [{ messages: [] }, "`messages` is empty"],
  ])("the options %o are rejected", (options, message) => {
    const start = () => new ActiveRun(testParts(scriptedStream([]).stream), { messages: question, ...options });
    expect(start).toThrow(message);
  });

  test("options without messages are rejected", () => {
    expect(() => new ActiveRun(testParts(scriptedStream([]).stream), {})).toThrow(
      "requires either `messages` or `conversation`",
    );
  });
});

describe("errors of the model", () => {
  test("in the middle of an answer end the run with the text so far", async () => {
    const run = new ActiveRun(
      testParts(
        scriptedStream([
          async function* fail() {
            yield text("The first half");
            yield call("read");
            yield { type: "reasoning", text: "unsigned" };
            throw new Error("overloaded, key hunter2");
          },
        ]).stream,
      ),
      { messages: question },
    );
    const end = await run.finished;
    expect(end.reason).toBe("error");
    expect(end.error?.message).toBe("overloaded, key [secret]");
    expectComplete(end.messages);
    expect(end.messages[1]).toMatchObject({
      content: [{ type: "text", text: "The first half" }, { type: "tool-call" }],
    });
    expect(textOf(resultsOf(end.messages)[0])).toContain("the model failed");
    expect(end.usage.outputTokens).toBeGreaterThan(0);
  });

  test("without a finish part are an error", async () => {
    const end = await new ActiveRun(testParts(scriptedStream([[text("A")]]).stream), { messages: question }).finished;
    expect(end.error?.message).toContain("without a finish part");
  });
});

describe("cancel", () => {
  test("before the start sends no request", async () => {
    const model = scriptedStream([answerStep]);
    const end = await new ActiveRun(testParts(model.stream), { messages: question, signal: AbortSignal.abort() })
      .finished;
    expect(end).toMatchObject({ reason: "cancelled", messages: question });
    expect(model.requests).toHaveLength(0);
  });

  test("during an answer aborts the request and keeps the text", async () => {
    const model = scriptedStream([
      async function* hang(request) {
        yield text("Partial");
        await untilAborted(request.signal);
      },
    ]);
    const run = new ActiveRun(testParts(model.stream), { messages: question });
    const events: RunEvent[] = [];
    for await (const event of run) {
      events.push(event);
      if (event.type === "text") run.cancel();
    }
    const end = await run.finished;
    expect(end.reason).toBe("cancelled");
    expect(end.messages.at(-1)).toEqual({ role: "assistant", content: [{ type: "text", text: "Partial" }] });
    expect(events.at(-1)).toMatchObject({ type: "end", end: { reason: "cancelled" } });
  });

  test("during calls aborts them, and each call has a result", async () => {
    const controller = new AbortController();
    const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const step = [...ids.map((id) => call("read", { id }, id)), finish("tool-calls")];
    const parts = testParts(scriptedStream([step]).stream, { callTool: ({ signal }) => untilAborted(signal) });
    const run = new ActiveRun(parts, { messages: question, signal: controller.signal });
    await flushPromises();
    controller.abort();
    const end = await run.finished;
    expect(end.reason).toBe("cancelled");
    expectComplete(end.messages);
    const results = resultsOf(end.messages);
    expect(textOf(results[0])).toContain("was cancelled");
    expect(textOf(results[11])).toContain("was not run, because the run was cancelled");
    expect(parts.calls).toHaveLength(8);
    expect(parts.clock.pending).toBe(0);
  });

  test("keeps the result of a call that ends in spite of it", async () => {
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")]]).stream, {
      callTool: async ({ signal }) => {
        await untilAborted(signal).catch(() => {});
        return textOutcome("written");
      },
    });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    run.cancel();
    expect(textOf(resultsOf((await run.finished).messages)[0])).toContain("written");
  });

  test("waits for at most 5 seconds for a model and a call that ignore it", async () => {
    const never = (): Promise<never> => new Promise(() => {});
    const deaf = scriptedStream([
      async function* deaf() {
        yield text("A");
        await never();
      },
    ]);
    const inCall = testParts(scriptedStream([[call("read"), finish("tool-calls")]]).stream, { callTool: never });
    for (const parts of [testParts(deaf.stream), inCall]) {
      const run = new ActiveRun(parts, { messages: question });
      await flushPromises();
      run.cancel();
      await parts.clock.advance(5000);
      const end = await run.finished;
      expect(end.reason).toBe("cancelled");
      expectComplete(end.messages);
    }
  });

  test("from within a call ends the run", async () => {
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")]]).stream, {
      callTool: () => {
        run.cancel();
        return new Promise(() => {});
      },
    });
    const run = new ActiveRun(parts, { messages: question });
    await parts.clock.advance(5000);
    expect((await run.finished).reason).toBe("cancelled");
  });

  test("happens when the consumer leaves the iteration", async () => {
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")]]).stream, {
      callTool: ({ signal }) => untilAborted(signal),
    });
    const run = new ActiveRun(parts, { messages: question });
    for await (const event of run) if (event.type === "call") break;
    const end = await run.finished;
    expect(end.reason).toBe("cancelled");
    expectComplete(end.messages);
  });
});

describe("time", () => {
  test("over the limit aborts the calls", async () => {
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")]]).stream, {
      callTool: ({ signal }) => untilAborted(signal),
    });
    const run = new ActiveRun(parts, { messages: question, maxTime: 1000 });
    await parts.clock.advance(999);
    expect(parts.calls[0]?.signal?.aborted).toBe(false);
    await parts.clock.advance(1);
    const end = await run.finished;
    expect(end.reason).toBe("time");
    expect(textOf(resultsOf(end.messages)[0])).toContain("limit of time");
    expect(parts.clock.pending).toBe(0);
  });

  test("over the limit aborts the answer of the model", async () => {
    const model = scriptedStream([
      async function* hang(request) {
        yield text("A");
        await untilAborted(request.signal);
      },
    ]);
    const parts = testParts(model.stream);
    const run = new ActiveRun(parts, { messages: question, maxTime: 1000 });
    await parts.clock.advance(1000);
    expect((await run.finished).reason).toBe("time");
  });

  test("excludes the time in which a person answers", async () => {
    const parts = testParts(scriptedStream([[call("read"), finish("tool-calls")]]).stream, {
      callTool: ({ signal }) => untilAborted(signal),
    });
    const run = new ActiveRun(parts, { messages: question, maxTime: 1000 });
    await flushPromises();
    const activity = (given: CallActivity): void => parts.calls[0]?.onActivity?.(given);
    await parts.clock.advance(400);
    activity({ type: "approval", state: "waiting" });
    await parts.clock.advance(60_000);
    activity({ type: "approval", state: "approved" });
    await parts.clock.advance(300);
    activity({ type: "input-request", kind: "form", state: "waiting" });
    activity({ type: "input-request", kind: "url", state: "waiting" });
    activity({ type: "input-request", kind: "form", state: "answered" });
    await parts.clock.advance(60_000);
    activity({ type: "input-request", kind: "url", state: "declined" });
    activity({ type: "input-request", kind: "roots", state: "waiting" });
    await parts.clock.advance(299);
    expect(parts.calls[0]?.signal?.aborted).toBe(false);
    await parts.clock.advance(1);
    expect((await run.finished).reason).toBe("time");
  });

  test("continues when a call ends while it waits for a person", async () => {
    const hang = scriptedStream([
      [call("read"), finish("tool-calls")],
      async function* hang(request) {
        yield text("A");
        await untilAborted(request.signal);
      },
    ]);
    const parts = testParts(hang.stream, {
      callTool: ({ onActivity }) => {
        onActivity?.({ type: "approval", state: "waiting" });
        return Promise.resolve(textOutcome("ok"));
      },
    });
    const run = new ActiveRun(parts, { messages: question, maxTime: 1000 });
    await parts.clock.advance(1000);
    expect((await run.finished).reason).toBe("time");
  });
});
