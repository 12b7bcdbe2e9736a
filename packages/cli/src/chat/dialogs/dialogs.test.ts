import { describe, expect, test } from "vitest";
import { Dismissed } from "../../terminal/questions/prompter.ts";
import { scriptedDialogs, signal } from "../../terminal/testing/scripted-prompter.ts";

const origin = { server: "a", claims: undefined, during: undefined };
const params = { messages: [], maxTokens: 1 };
const result = { role: "assistant", content: [], model: "m" } as const;
const tool = { name: "t", inputSchema: {} };

/** Asks each question of the renderer, and returns the answers. */
async function askAll(
  renderer: ReturnType<typeof scriptedDialogs>["renderer"],
  aborted: AbortSignal,
): Promise<unknown[]> {
  return [
    await renderer.review({ server: "a", changes: [] }, aborted),
    await renderer.approve(
      { origin: { callId: "1", by: "model" }, server: "a", tool, arguments: {}, shown: "{}" },
      aborted,
    ),
    await renderer.form({ origin, message: "", fields: [], remarks: [], check: () => [] }, aborted),
    await renderer.url({ origin, message: "", url: "https://a.example/", host: "a.example", remarks: [] }, aborted),
    await renderer.sample({ origin, request: params, model: "m", contextOf: [], tokensLeft: 1 }, aborted),
    await renderer.sampled({ origin, request: params, result: { ...result, content: [] } }, aborted),
  ];
}

const denied = { action: "deny" };
const refusals = [{ accepted: [] }, denied, { action: "cancel" }, { action: "cancel" }, denied, denied];

describe("every question is refused", () => {
  test("if it is withdrawn", async () => {
    const { renderer, screen, errors } = scriptedDialogs(Array.from({ length: 6 }, () => "y"));
    expect(await askAll(renderer, AbortSignal.abort())).toEqual(refusals);
    expect(screen()).toBe("");
    expect(errors).toEqual([]);
  });

  test("if it is withdrawn while the answer is typed", async () => {
    const stop = new AbortController();
    const { renderer } = scriptedDialogs([
      () => {
        stop.abort();
        return "y";
      },
    ]);
    const asked = renderer.sampled({ origin, request: params, result: { ...result, content: [] } }, stop.signal);
    expect(await asked).toEqual(denied);
  });

  test("if the input ends", async () => {
    const { renderer, errors } = scriptedDialogs([]);
    expect(await askAll(renderer, signal)).toEqual(refusals);
    expect(errors).toEqual([]);
  });

  test("if the dialog fails, which is reported", async () => {
    const { renderer, errors } = scriptedDialogs([], { talk: () => Promise.reject(new Error("no terminal")) });
    expect(await askAll(renderer, signal)).toEqual(refusals);
    expect(errors.map(({ message }) => message)).toEqual(Array.from({ length: 6 }, () => "no terminal"));
  });
});

test("a question that was dismissed is not an error", async () => {
  const { renderer, errors } = scriptedDialogs([], { talk: () => Promise.reject(new Dismissed()) });
  expect(await askAll(renderer, signal)).toEqual(refusals);
  expect(errors).toEqual([]);
});
