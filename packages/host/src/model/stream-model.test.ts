import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { finishPart, scriptedModel, type ScriptedStep, textParts, textStep } from "../testing/scripted-model.ts";
import type { LanguageModel } from "./language-model.ts";
import type { ModelPart } from "./model-request.ts";
import { streamModel } from "./stream-model.ts";
import { joinPieces } from "./stream-parts.ts";

const messages = [{ role: "user", content: "hi" }] as const;

async function read(model: LanguageModel, signal?: AbortSignal): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of streamModel(model, { messages, ...(signal && { signal }) })) parts.push(part);
  return parts;
}

const answer = (step: ScriptedStep, version: "v3" | "v4" = "v4"): Promise<ModelPart[]> =>
  read(scriptedModel([step], { version }));

const finish = { type: "finish", reason: "stop", raw: "stop", usage: { inputTokens: 10, outputTokens: 5 } };

describe.each(["v3", "v4"] as const)("an answer of a model (%s)", (version) => {
  test("is yielded in pieces, with the usage at the end", async () => {
    expect(await answer(textStep("hello"), version)).toEqual([
      { type: "text", text: "hel", block: 0 },
      { type: "text", text: "lo", block: 0 },
      finish,
    ]);
  });

  test("contains the tool calls with the text of their arguments", async () => {
    const metadata = { google: { thoughtSignature: "t" } };
    const call = { type: "tool-call", toolCallId: "1", toolName: "add", input: '{"a":', providerMetadata: metadata };
    const ran = { type: "tool-call", toolCallId: "2", toolName: "web", input: "{}", providerExecuted: true };
    const parts = await answer(
      [call, ran, { type: "tool-result", toolCallId: "2" }, finishPart("tool-calls")],
      version,
    );
    expect(parts).toEqual([
      { type: "tool-call", callId: "1", name: "add", input: '{"a":', providerData: metadata },
      { ...finish, reason: "tool-calls", raw: "tool-calls" },
    ]);
  });

  test("is passed on without parts of unknown types", async () => {
    const unknown = [
      { type: "stream-start", warnings: [] },
      { type: "ping" },
      { type: "raw", rawValue: 1 },
      { type: "response-metadata", id: "r" },
      { type: "source", sourceType: "url", id: "1", url: "https://example.com" },
      { type: "new-in-v5" },
    ];
    expect(await answer([...unknown, finishPart("stop")], version)).toEqual([finish]);
  });
});

test("files arrive as base64, and a file at a URL as the URL", async () => {
  const file = (data: unknown): { type: string; [member: string]: unknown } => ({
    type: "file",
    mediaType: "image/png",
    data,
  });
  const png = { type: "file", mediaType: "image/png", data: "aW1n" };
  const bytes = new TextEncoder().encode("img");
  expect(await answer([file("aW1n"), file(bytes), finishPart("stop")], "v3")).toEqual([png, png, finish]);
  const url = new URL("https://example.com/a.png");
  const parts = [file({ type: "data", data: "aW1n" }), file({ type: "data", data: bytes }), file({ type: "url", url })];
  expect(await answer([...parts, finishPart("stop")])).toEqual([
    png,
    png,
    { type: "text", text: "https://example.com/a.png" },
    finish,
  ]);
});

test.each([
  ["length", "length"],
  ["content-filter", "content-filter"],
  ["error", "error"],
  ["interrupted", "error"],
  ["new-in-v5", "other"],
])("the finish reason %s is %s", async (unified, reason) => {
  expect(await answer([finishPart(unified)])).toEqual([{ ...finish, reason, raw: unified }]);
});

test("tokens that the provider does not report are 0", async () => {
  const usage = { inputTokens: { total: undefined }, outputTokens: {} };
  const [part] = await answer([{ type: "finish", finishReason: { unified: "stop" }, usage }]);
  expect(part).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0 } });
});

describe("joined pieces", () => {
  test("form one part for each block, with the last data of the provider", async () => {
    const [first, second] = [{ openai: { itemId: "1" } }, { openai: { itemId: "2", encrypted: "e" } }];
    const parts = await answer([
      { type: "reasoning-start", id: "r", providerMetadata: { openai: { itemId: "0" } } },
      { type: "reasoning-delta", id: "r", delta: "a" },
      { type: "reasoning-end", id: "r", providerMetadata: first },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-end", id: "r", providerMetadata: second },
      ...textParts("one", "t"),
      { type: "tool-call", toolCallId: "c", toolName: "add", input: "{}" },
      ...textParts("two", "t"),
      ...textParts("", "u"),
      finishPart("stop"),
    ]);
    expect(joinPieces(parts)).toEqual([
      { type: "reasoning", text: "a", providerData: first },
      { type: "reasoning", text: "", providerData: second },
      { type: "text", text: "one" },
      { type: "tool-call", callId: "c", name: "add", input: "{}" },
      { type: "text", text: "two" },
    ]);
  });

  test("of interleaved blocks are kept apart", async () => {
    const delta = (id: string, text: string): { type: string; id: string; delta: string } => ({
      type: "text-delta",
      id,
      delta: text,
    });
    const parts = await answer([delta("a", "1"), delta("b", "x"), delta("a", "2"), finishPart("stop")]);
    expect(joinPieces(parts)).toMatchObject([{ text: "12" }, { text: "x" }]);
  });

  test("of an id that is used again after its block has ended are another text", async () => {
    const piece = (delta: string): { type: string; id: string; delta: string } => ({
      type: "text-delta",
      id: "0",
      delta,
    });
    const parts = await answer([piece("a"), { type: "text-end", id: "0" }, piece("b"), finishPart("stop")]);
    expect(joinPieces(parts)).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });

  test("without a block belong to the piece before them", () => {
    const text = (value: string): ModelPart => ({ type: "text", text: value });
    const call: ModelPart = { type: "tool-call", callId: "c", name: "add", input: "{}" };
    expect(joinPieces([text("a"), text("b"), call, text("c")])).toEqual([text("ab"), call, text("c")]);
  });
});

describe("a failed request", () => {
  const failed = async (step: ScriptedStep): Promise<Error> => {
    const model = scriptedModel([step]);
    const error = await read(model).catch((thrown: unknown) => thrown as Error);
    expect(model.open).toBe(0);
    return error as Error;
  };

  test("throws the message and the status of the provider, without the request", async () => {
    const secret = "very-secret-value";
    const error = Object.assign(new Error(`Overloaded, authorization: ${secret}`), {
      statusCode: 529,
      requestBodyValues: { messages: secret },
      responseHeaders: { key: secret },
      responseBody: secret,
      cause: new Error(secret),
    });
    const thrown = await failed(error);
    expect(thrown.message).toBe(
      'The model "scripted/scripted-model" failed (HTTP status 529): Overloaded, authorization: [redacted]',
    );
    expect(Object.getOwnPropertyNames(thrown).toSorted()).toEqual(["message", "stack"]);
    expect(thrown.stack).not.toContain(secret);
  });

  test.each([401, 403])("does not repeat the message of the provider for the status %i", async (statusCode) => {
    const { message } = await failed(Object.assign(new Error("Incorrect key provided: abc123"), { statusCode }));
    expect(message).toBe(
      `The model "scripted/scripted-model" rejected the credentials (HTTP status ${statusCode}). Check the key of its provider.`,
    );
  });

  test.each([
    ["an error part with a text", [{ type: "error", error: "busy" }], "failed: busy"],
    ["an error part with an object", [{ type: "error", error: { message: "full" } }], "failed: full"],
    ["an error part with another value", [{ type: "error", error: 5 }], "failed: unknown error"],
    ["a broken stream", [...textParts("a"), new Error("reset")], "failed: reset"],
    ["a stream without a finish", textParts("a"), "The stream ended before the answer was complete."],
  ])("throws for %s", async (_, parts, message) => {
    expect((await failed(parts)).message).toContain(message);
  });

  test("has a message of at most 500 characters of the provider", async () => {
    expect((await failed(new Error("x ".repeat(5_000)))).message.length).toBeLessThan(600);
  });

  test("names the cure for a model of an older specification", async () => {
    const model = { ...scriptedModel([]), specificationVersion: "v2" } as unknown as LanguageModel;
    await expect(read(model)).rejects.toThrow("Use a version of the provider's package with a LanguageModelV3");
  });
});

describe("an aborted request", () => {
  test("is not sent if the signal is aborted before", async () => {
    const model = scriptedModel([textStep("a")]);
    await expect(read(model, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    expect(model.requests).toEqual([]);
  });

  test("throws the reason of the signal, and ends the stream", async () => {
    const model = scriptedModel([[...textParts("a"), "hang"]]);
    const controller = new AbortController();
    const reading = read(model, controller.signal).catch((error: unknown) => error);
    await flushPromises();
    expect(model.open).toBe(1);
    controller.abort(new Error("enough"));
    expect(await reading).toMatchObject({ message: "enough" });
    expect(model.open).toBe(0);
  });

  test("ends although the provider ignores the signal", async () => {
    let cancelled = false;
    const stream = new ReadableStream<unknown>({
      pull: () => new Promise(() => {}),
      cancel: () => void (cancelled = true),
    });
    let resolve!: (result: { stream: ReadableStream<unknown> }) => void;
    const opening = new Promise<{ stream: ReadableStream<unknown> }>((done) => (resolve = done));
    for (const doStream of [() => Promise.resolve({ stream }), () => opening]) {
      const model: LanguageModel = { specificationVersion: "v4", provider: "p", modelId: "m", doStream };
      const controller = new AbortController();
      const reading = read(model, controller.signal).catch((error: unknown) => error);
      await flushPromises();
      controller.abort(new Error("enough"));
      expect(await reading).toMatchObject({ message: "enough" });
    }
    expect(cancelled).toBe(true);
    const late = new ReadableStream<unknown>({ cancel: () => void (cancelled = false) });
    resolve({ stream: late });
    await flushPromises();
    expect(cancelled).toBe(false);
  });
});

test("a caller that stops reading ends the stream", async () => {
  const model = scriptedModel([textStep("hello")]);
  for await (const part of streamModel(model, { messages })) {
    expect(part.type).toBe("text");
    break;
  }
  expect(model.open).toBe(0);
});
