import { describe, expect, test } from "vitest";
import type { CallOptionsV3 } from "../model/language-model.ts";
import { callStep, finishPart, type ScriptedModel, scriptedModel, textParts, textStep } from "./scripted-model.ts";

const prompt: CallOptionsV3["prompt"] = [{ role: "user", content: [{ type: "text", text: "hi" }] }];

/** Sends a request without files, which both versions accept. */
function request(model: ScriptedModel, abortSignal?: AbortSignal): PromiseLike<{ stream: ReadableStream<unknown> }> {
  const options = { prompt, ...(abortSignal && { abortSignal }) } as never;
  return model.doStream(options);
}

async function read(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe.each(["v3", "v4"] as const)("a scripted model (%s)", (version) => {
  test("answers each request with the next step and records the options", async () => {
    const model = scriptedModel([textStep("hello"), () => callStep([{ name: "add", input: { a: 1 } }])], { version });
    expect(model.specificationVersion).toBe(version);
    expect(await read((await request(model)).stream)).toEqual([...textParts("hello"), finishPart("stop")]);
    expect(await read((await request(model)).stream)).toMatchObject([
      { type: "tool-input-start" },
      { type: "tool-input-delta", delta: '{"a":1}' },
      { type: "tool-input-end" },
      { type: "tool-call", toolCallId: "add", toolName: "add", input: '{"a":1}' },
      { type: "finish", finishReason: { unified: "tool-calls" } },
    ]);
    expect(model.requests).toEqual([{ prompt }, { prompt }]);
    await expect(request(model)).rejects.toThrow("The script has 2 steps; this is request 3.");
  });

  test("fails before or within the stream", async () => {
    const model = scriptedModel([new Error("busy"), [...textParts("a"), new Error("broken")]], { version });
    await expect(request(model)).rejects.toThrow("busy");
    await expect(read((await request(model)).stream)).rejects.toThrow("broken");
    expect(model.open).toBe(0);
  });

  test("hangs until the request is aborted", async () => {
    const model = scriptedModel([[...textParts("a"), "hang"]], { version });
    const controller = new AbortController();
    const reading = read((await request(model, controller.signal)).stream);
    expect(model.open).toBe(1);
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(model.open).toBe(0);
  });

  test("counts a cancelled stream as ended", async () => {
    const model = scriptedModel([textStep("a")], { version });
    const { stream } = await request(model);
    await stream.cancel();
    expect(model.open).toBe(0);
  });
});
