import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { Message, ToolResultPart } from "../conversation/messages.ts";
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

const reading = [call("read"), finish("tool-calls")];

function resultsOf(messages: readonly Message[]): ToolResultPart[] {
  return messages.flatMap((message) => (message.role === "tool" ? message.content : []));
}

function textOf(result: ToolResultPart | undefined): string {
  return (result?.content ?? []).map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n");
}

describe("cancelCalls", () => {
  test("cancels the calls in flight, and the run continues with results that name the user", async () => {
    const model = scriptedStream([[call("read"), call("write"), finish("tool-calls")], answerStep]);
    const parts = testParts(model.stream, { callTool: ({ signal }) => untilAborted(signal) });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    expect(run.cancelCalls()).toBe(2);
    const { reason, messages } = await run.finished;
    expect(reason).toBe("answered");
    expect(resultsOf(messages).map(({ callId, isError }) => [callId, isError])).toEqual([
      ["read", true],
      ["write", true],
    ]);
    expect(textOf(resultsOf(messages)[0])).toBe(
      "The user cancelled the call. The server may have run it. Do not repeat it without a new request of the user.",
    );
    expect(model.requests[1]?.messages.slice(1)).toEqual(messages.slice(0, 3));
    expect(parts.clock.pending).toBe(0);
  });

  test("does not affect a call whose result is known", async () => {
    const model = scriptedStream([[call("read"), call("write"), finish("tool-calls")], answerStep]);
    const parts = testParts(model.stream, {
      callTool: ({ tool, signal }) =>
        tool.name === "read" ? Promise.resolve(textOutcome("a note")) : untilAborted(signal),
    });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    expect(run.cancelCalls()).toBe(1);
    const results = resultsOf((await run.finished).messages);
    expect(textOf(results[0])).toContain("a note");
    expect(textOf(results[1])).toContain("The user cancelled the call.");
  });

  test("cancels calls that wait for their turn, with their events", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const step = [...ids.map((id) => call("read", { id }, id)), finish("tool-calls")];
    const parts = testParts(scriptedStream([step, answerStep]).stream, {
      callTool: ({ signal }) => untilAborted(signal),
    });
    const run = new ActiveRun(parts, { messages: question });
    const events = eventsOf(run);
    await flushPromises();
    expect(run.cancelCalls()).toBe(12);
    const { messages } = await run.finished;
    expect(parts.calls).toHaveLength(8);
    expect(resultsOf(messages).map(({ callId }) => callId)).toEqual(ids);
    expect(textOf(resultsOf(messages)[11])).toContain("was not run, because the user cancelled it");
    for (const type of ["call", "result"]) {
      const ofType = (await events).flatMap((event) => (event.type === type && "callId" in event ? event.callId : []));
      expect(ofType.toSorted()).toEqual(ids.toSorted());
    }
  });

  test("states that the server has not run a call that waited for approval", async () => {
    const parts = testParts(scriptedStream([reading, answerStep]).stream, {
      callTool: ({ signal, onActivity }) => {
        onActivity?.({ type: "approval", state: "waiting" });
        return untilAborted(signal);
      },
    });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    expect(run.cancelCalls()).toBe(1);
    expect(textOf(resultsOf((await run.finished).messages)[0])).toContain("The server did not run it.");
  });

  test("keeps the result of a call that ends in spite of it", async () => {
    const parts = testParts(scriptedStream([reading, answerStep]).stream, {
      callTool: async ({ signal }) => {
        await untilAborted(signal).catch(() => {});
        return textOutcome("written");
      },
    });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    run.cancelCalls();
    expect(textOf(resultsOf((await run.finished).messages)[0])).toContain("written");
  });

  test("waits at most 5 seconds for a call that ignores it, and counts the call once", async () => {
    const parts = testParts(scriptedStream([reading, answerStep]).stream, { callTool: () => new Promise(() => {}) });
    const run = new ActiveRun(parts, { messages: question });
    let hasEnded = false;
    void run.finished.then(() => (hasEnded = true));
    await flushPromises();
    expect(run.cancelCalls()).toBe(1);
    expect(run.cancelCalls()).toBe(0);
    await parts.clock.advance(4999);
    expect(hasEnded).toBe(false);
    await parts.clock.advance(1);
    const { reason, messages } = await run.finished;
    expect(reason).toBe("answered");
    expect(textOf(resultsOf(messages)[0])).toContain("The user cancelled the call.");
    expect(parts.clock.pending).toBe(0);
  });

  test("lets a cancellation of the run follow", async () => {
    const parts = testParts(scriptedStream([reading]).stream, { callTool: () => new Promise(() => {}) });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    run.cancelCalls();
    run.cancel();
    await parts.clock.advance(5000);
    const { reason, messages } = await run.finished;
    expect(reason).toBe("cancelled");
    expect(resultsOf(messages)).toHaveLength(1);
  });

  test("does not count as a failure of the call", async () => {
    const steps = [reading, reading, reading, reading, answerStep];
    const parts = testParts(scriptedStream(steps).stream, {
      callTool: ({ signal }) =>
        parts.calls.length < 4 ? untilAborted(signal) : Promise.resolve(textOutcome("a note")),
    });
    const run = new ActiveRun(parts, { messages: question });
    for (let time = 0; time < 3; time += 1) {
      await flushPromises();
      expect(run.cancelCalls()).toBe(1);
    }
    expect(textOf(resultsOf((await run.finished).messages)[3])).toContain("a note");
  });

  test("applies to later calls of the run only if it is called again", async () => {
    const parts = testParts(scriptedStream([reading, reading, answerStep]).stream, {
      callTool: ({ signal }) =>
        parts.calls.length < 2 ? untilAborted(signal) : Promise.resolve(textOutcome("a note")),
    });
    const run = new ActiveRun(parts, { messages: question });
    await flushPromises();
    run.cancelCalls();
    expect(textOf(resultsOf((await run.finished).messages)[1])).toContain("a note");
  });

  test("returns 0 and does nothing while no call is in flight", async () => {
    const model = scriptedStream([
      reading,
      async function* hang() {
        yield text("A");
        expect(run.cancelCalls()).toBe(0);
        yield finish();
      },
    ]);
    const run = new ActiveRun(testParts(model.stream), { messages: question });
    expect(run.cancelCalls()).toBe(0);
    const { reason, messages } = await run.finished;
    expect(run.cancelCalls()).toBe(0);
    expect(reason).toBe("answered");
    expect(textOf(resultsOf(messages)[0])).not.toContain("cancelled");
  });
});
