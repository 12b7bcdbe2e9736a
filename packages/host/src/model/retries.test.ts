import { type FakeClock, fakeClock, flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { type ScriptedStep, finishPart, scriptedModel, textParts, textStep } from "../testing/scripted-model.ts";
import type { ModelPart } from "./model-request.ts";
import { type ModelRetry, checkTries, streamModel } from "./stream-model.ts";

const messages = [{ role: "user", content: "hi" }] as const;

/** Returns an error with the members of an `APICallError`. */
function apiError(statusCode: number | undefined, members: object = {}): Error {
  return Object.assign(new Error("No."), { statusCode, ...members });
}

/** Returns an error of `fetch` for a connection with a code. */
function connectionError(code: string): Error {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
}

interface Outcome {
  readonly parts: readonly ModelPart[];
  readonly error: Error | undefined;
  readonly retries: readonly ModelRetry[];
  /** The number of requests. */
  readonly sent: number;
  /** Milliseconds of all delays. */
  readonly time: number;
}

/** Sends a request with the default number of tries, and lets all delays pass. */
async function send(
  steps: readonly ScriptedStep[],
  { clock = fakeClock(1_000_000), maxTries = checkTries() }: { clock?: FakeClock; maxTries?: number } = {},
): Promise<Outcome> {
  const start = clock.now();
  const retries: ModelRetry[] = [];
  const model = scriptedModel(steps);
  const parts: ModelPart[] = [];
  let error: Error | undefined;
  const ended = new AbortController();
  const reading = (async () => {
    try {
      const options = { maxTries, clock, onRetry: (retry: ModelRetry) => void retries.push(retry) };
      for await (const part of streamModel(model, { messages }, options)) parts.push(part);
    } catch (thrown) {
      error = thrown as Error;
    }
    ended.abort();
  })();
  for (await flushPromises(); !ended.signal.aborted; await flushPromises()) {
    await clock.advance(retries.at(-1)?.delay ?? 0);
  }
  await reading;
  expect(clock.pending).toBe(0);
  expect(model.open).toBe(0);
  return { parts, error, retries, sent: model.requests.length, time: clock.now() - start };
}

const hello = textStep("hello");
const texts = (parts: readonly ModelPart[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

describe("a request is repeated after", () => {
  test.each<[string, ScriptedStep]>([
    ...[408, 429, 500, 502, 503, 504, 529].map((status): [string, ScriptedStep] => [String(status), apiError(status)]),
    ["a status that is a member of another name", Object.assign(new Error("No."), { status: 503 })],
    ...["ECONNRESET", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "EPIPE", "UND_ERR_SOCKET"].map(
      (code): [string, ScriptedStep] => [code, connectionError(code)],
    ),
    [
      "a refusal of each address of the host",
      new TypeError("fetch failed", {
        cause: new AggregateError([Object.assign(new Error(), { code: "ECONNREFUSED" })]),
      }),
    ],
    ["an error that its provider calls temporary", apiError(undefined, { isRetryable: true })],
    ["a stream without a part", []],
    ["a stream that breaks before a part", [{ type: "stream-start" }, connectionError("ECONNRESET")]],
    ["a stream that reports an error before a part", [{ type: "error", error: { code: 502, message: "No." } }]],
    ["a stream that was interrupted before a part", [{ type: "finish", finishReason: { unified: "interrupted" } }]],
  ])("%s", async (_name, step) => {
    const { parts, error, retries, sent } = await send([step, hello]);
    expect(error).toBeUndefined();
    expect(texts(parts)).toBe("hello");
    expect(sent).toBe(2);
    expect(retries).toMatchObject([{ model: "scripted/scripted-model", nextTry: 2, maxTries: 4 }]);
  });
});

describe("a request is not repeated after", () => {
  test.each<[string, ScriptedStep]>([
    ...[400, 401, 403, 404, 409, 413, 422, 501, 505].map((status): [string, ScriptedStep] => [
      String(status),
      apiError(status, { isRetryable: status === 409 }),
    ]),
    ["a status that its provider calls permanent", apiError(500, { isRetryable: false })],
    ["a host that is not found", apiError(undefined, { isRetryable: true, cause: { code: "ENOTFOUND" } })],
    ["a certificate that is not trusted", connectionError("CERT_HAS_EXPIRED")],
    ["an error without a known cause", new Error("No.")],
    ["a text of the stream", [{ type: "error", error: "context too long" }]],
    ["a text of the answer", [...textParts("a"), apiError(503)]],
    ["a part of the reasoning", [{ type: "reasoning-delta", id: "1", delta: "a" }, connectionError("ECONNRESET")]],
    ["an end without a reason after a text", textParts("a")],
  ])("%s", async (_name, step) => {
    const { error, retries, sent, time } = await send([step, hello]);
    expect(error).toBeInstanceOf(Error);
    expect(error?.message).not.toContain("was sent");
    expect({ retries, sent, time }).toEqual({ retries: [], sent: 1, time: 0 });
  });
});

test("an end for a reason of the provider is an answer", async () => {
  const { parts, sent } = await send([[finishPart("error")], hello]);
  expect(parts).toMatchObject([{ type: "finish", reason: "error", raw: "error" }]);
  expect(sent).toBe(1);
});

describe("the delay", () => {
  test("is doubled after each try, and half of it is random", async () => {
    const { retries } = await send([apiError(500), apiError(500), apiError(500), hello]);
    for (const [index, { delay, nextTry }] of retries.entries()) {
      expect(nextTry).toBe(index + 2);
      expect(delay).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(delay).toBeLessThanOrEqual(1000 * 2 ** index);
    }
    expect(retries).toHaveLength(3);
  });

  const date = (ms: number): string => new Date(ms).toUTCString();
  test.each([
    ["seconds", { "retry-after": "3" }, 3000],
    ["milliseconds, which have precedence", { "retry-after": "9", "retry-after-ms": "1500" }, 1500],
    ["a date", { "retry-after": date(1_007_000) }, 7000],
    ["a date by the clock of the endpoint", { "retry-after": date(9_005_000), date: date(9_000_000) }, 5000],
    ["seconds in headers with capital letters", { "Retry-After": "2" }, 2000],
    ["seconds in an object of headers", new Headers({ "retry-after": "4" }), 4000],
  ])("is that of the endpoint in %s", async (_name, responseHeaders, delay) => {
    const { retries, time } = await send([apiError(429, { responseHeaders }), hello]);
    expect(retries).toMatchObject([{ status: 429, delay }]);
    expect(time).toBe(delay);
  });

  test.each([["soon"], ["-5"], ["0"], [""], [date(0)]])("is chosen here for the header %j", async (value) => {
    const { retries } = await send([apiError(429, { responseHeaders: { "retry-after": value } }), hello]);
    expect(retries[0]?.delay).toBeGreaterThanOrEqual(500);
    expect(retries[0]?.delay).toBeLessThanOrEqual(1000);
  });
});

describe("the end", () => {
  const limited = (seconds: number): Error => apiError(429, { responseHeaders: { "retry-after": String(seconds) } });

  test("comes after the number of tries", async () => {
    const { error, sent, retries } = await send(Array.from({ length: 5 }, () => apiError(429)));
    expect(error?.message).toBe(
      'The model "scripted/scripted-model" failed (HTTP status 429): No. The request was sent 4 times.',
    );
    expect(sent).toBe(4);
    expect(retries.map(({ nextTry }) => nextTry)).toEqual([2, 3, 4]);
  });

  test("comes at once with one try", async () => {
    const { error, sent } = await send([apiError(429), hello], { maxTries: 1 });
    expect(error?.message).toBe('The model "scripted/scripted-model" failed (HTTP status 429): No.');
    expect(sent).toBe(1);
  });

  test("comes at once if the endpoint asks to wait longer than the limit, and names the time", async () => {
    const { error, time } = await send([limited(121), hello]);
    expect(error?.message).toContain("The next try would be in 121 s, and a request waits at most 120 s in total.");
    expect(time).toBe(0);
    expect((await send([limited(120), hello])).time).toBe(120_000);
  });

  test("comes when all delays together are longer than the limit", async () => {
    const { error, time, sent } = await send([limited(60), limited(60), limited(1), hello]);
    expect(error?.message).toContain("The request was sent 3 times. The next try would be in 1 s");
    expect(time).toBe(120_000);
    expect(sent).toBe(3);
  });

  test("has the reason of the last try", async () => {
    const { error, sent } = await send([apiError(503), apiError(400)]);
    expect(error?.message).toContain("(HTTP status 400): No. The request was sent 2 times.");
    expect(sent).toBe(2);
  });
});

test("an abort during a delay ends at once, without another request and without a timer", async () => {
  const clock = fakeClock();
  const model = scriptedModel([apiError(429), hello]);
  const controller = new AbortController();
  const options = { maxTries: 4, clock, onRetry: () => {} };
  const reading = (async () => {
    for await (const _part of streamModel(model, { messages, signal: controller.signal }, options));
  })();
  reading.catch(() => {});
  await flushPromises();
  expect(clock.pending).toBe(1);
  controller.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
  expect(clock.pending).toBe(0);
  expect(model.requests).toHaveLength(1);
});

test.each([0, -1, 1.5, NaN, Infinity])("%s is no number of tries", (tries) => {
  expect(() => checkTries(tries)).toThrow("`modelTries` must be a whole number of at least 1");
});
