import { fakeClock } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { checkLimits, defaultLimits, RequestCounter } from "./input-context.ts";
import { TokenBudget, tokensOf } from "./sample-handler.ts";

describe("limits", () => {
  test("have defaults, and the last setting has precedence", () => {
    expect(checkLimits()).toEqual(defaultLimits);
    const limits = checkLimits({ samplesPerCall: 1, requestsPerMinute: 2 }, undefined, { samplesPerCall: 0 });
    expect(limits).toEqual({ ...defaultLimits, samplesPerCall: 0, requestsPerMinute: 2 });
    expect(checkLimits({ tokensPerServer: Infinity }).tokensPerServer).toBe(Infinity);
  });

  test.each([-1, 1.5, Number.NaN, "5", -Infinity])("reject %j", (value) => {
    expect(() => checkLimits({ tokensPerSample: value as number })).toThrow(
      `inputLimits.tokensPerSample must be an integer of at least 0, or Infinity; got ${value}.`,
    );
  });
});

describe("a counter", () => {
  const limits = { ...defaultLimits, elicitationsPerCall: 2, samplesPerCall: 1, requestsPerMinute: 6 };
  const call = 'tools/call "a"';

  test("refuses requests over the limits of a call, and starts again with the next call", () => {
    const counter = new RequestCounter(limits, fakeClock());
    for (let round = 0; round < 2; round++) {
      const ended = counter.callStarted(call);
      expect(counter.take("form", call)).toBeUndefined();
      expect(counter.take("url", call)).toBeUndefined();
      expect(counter.take("form", call)).toEqual({ limit: "elicitationsPerCall", isFlood: false });
      expect(counter.take("sampling", call)).toBeUndefined();
      expect(counter.take("sampling", call)).toEqual({ limit: "samplesPerCall", isFlood: false });
      ended();
    }
  });

  test("multiplies the limits of a call by the calls that a request may belong to", () => {
    const counter = new RequestCounter(limits, fakeClock());
    const ends = [counter.callStarted(call), counter.callStarted(call), counter.callStarted("tools/call")];
    for (const allowed of [true, true, false]) {
      expect(counter.take("sampling", call) === undefined).toBe(allowed);
    }
    for (const allowed of [true, true, true, false]) {
      expect(counter.take("sampling", undefined) === undefined).toBe(allowed);
    }
    for (const end of ends) end();
    counter.callStarted("prompts/get");
    expect(counter.take("sampling", undefined)).toBeUndefined();
  });

  test("refuses more requests in a minute than the limit, also outside of calls", async () => {
    const clock = fakeClock();
    const counter = new RequestCounter(limits, clock);
    for (let request = 0; request < 6; request++) expect(counter.take("form", undefined)).toBeUndefined();
    for (let request = 0; request < 20; request++) {
      expect(counter.take("roots", undefined)).toEqual({ limit: "requestsPerMinute", isFlood: false });
    }
    await clock.advance(60_000);
    expect(counter.take("roots", undefined)).toBeUndefined();
  });

  test("reports a flood after ten refused requests of a call", () => {
    const counter = new RequestCounter({ ...limits, elicitationsPerCall: 0 }, fakeClock());
    counter.callStarted(call);
    const floods = Array.from({ length: 11 }, () => counter.take("form", call)?.isFlood);
    expect(floods).toEqual([...Array.from({ length: 10 }, () => false), true]);
  });
});

describe("a budget of tokens", () => {
  test("limits each answer, and all answers together", () => {
    const budget = new TokenBudget({ ...defaultLimits, tokensPerSample: 100, tokensPerServer: 150 });
    const first = budget.reserve(500);
    expect(first?.tokens).toBe(100);
    const second = budget.reserve(500);
    expect(second?.tokens).toBe(50);
    expect(budget.reserve(1)).toBeUndefined();
    first?.settle(30);
    first?.settle(30);
    expect(budget.tokensLeft).toBe(70);
    // A provider can report more tokens than were allowed.
    second?.settle(500);
    expect(budget.tokensLeft).toBe(0);
  });

  test("counts the reported tokens, or estimates them", () => {
    const text = { type: "text", text: "12345678" } as const;
    const call = { type: "tool-call", callId: "1", name: "a", input: "1234" } as const;
    const finish = (outputTokens: number) =>
      ({ type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens } }) as const;
    expect(tokensOf([text, finish(7)])).toBe(7);
    expect(tokensOf([text, call, finish(0)])).toBe(4);
    expect(tokensOf([text])).toBe(3);
    expect(tokensOf([])).toBe(0);
  });
});
