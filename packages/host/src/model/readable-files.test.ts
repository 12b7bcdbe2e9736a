import { describe, expect, test } from "vitest";
import type { FilePart, Message, TextPart } from "../conversation/messages.ts";
import {
  finishPart,
  type ScriptedModel,
  type ScriptedStep,
  scriptedModel,
  textStep,
} from "../testing/scripted-model.ts";
import { streamModel } from "./stream-model.ts";

const picture: FilePart = { type: "file", mediaType: "image/png", data: "AAAA" };
const other: FilePart = { type: "file", mediaType: "image/png", data: "BBBB" };
const sound: FilePart = { type: "file", mediaType: "audio/wav", data: "UklG" };
const pdf: FilePart = { type: "file", mediaType: "application/pdf", data: "JVBERi0x", filename: "a.pdf" };
const leftOut = (type: string, bytes = 3): string =>
  `[${type}, ${bytes} bytes: left out, because the model cannot read this file]`;

const user = (...content: (TextPart | FilePart)[]): Message => ({ role: "user", content });
const text = (value: string): TextPart => ({ type: "text", text: value });
const result = (content: readonly (TextPart | FilePart)[], { id = "1", name = "shots__take", isError = false } = {}) =>
  ({ type: "tool-result", callId: id, name, content, isError }) as const;
const tool = (...content: (TextPart | FilePart)[]): Message => ({ role: "tool", content: [result(content)] });

/** A refusal as an error of the AI SDK. */
const refusal = (statusCode: number, message = "this model does not support images"): Error =>
  Object.assign(new Error(message), { name: "AI_APICallError", statusCode });
/** A refusal of the code of a provider's package. */
const unsupported = (functionality: string): Error =>
  Object.assign(new Error(`'${functionality}' functionality not supported.`), {
    name: "AI_UnsupportedFunctionalityError",
  });
const answer = textStep("Hello.");

function modelOf(...steps: readonly ScriptedStep[]): ScriptedModel {
  return scriptedModel(steps, { version: "v3" });
}

async function ask(model: ScriptedModel, ...messages: readonly Message[]): Promise<void> {
  for await (const part of streamModel(model, { messages })) expect(part.type).not.toBe("error");
}

/** Returns the files and texts of a request, in order. */
function sent(model: ScriptedModel, index: number): string[] {
  const prompt = model.requests[index]?.prompt ?? [];
  return prompt.flatMap(({ role, content }) => {
    if (typeof content === "string") return [`${role}: ${content}`];
    return content.map((part) => {
      if (part.type === "file") return `${role}: ${part.mediaType} ${JSON.stringify(part.data)}`;
      if (part.type === "tool-result") return `${role}: ${part.output.type}: ${part.output.value}`;
      return `${role}: ${"text" in part ? part.text : part.type}`;
    });
  });
}

describe("the files of results", () => {
  test("are in a message of the user behind the results, which names their tools", async () => {
    const model = modelOf(answer);
    const results = [
      result([text("Taken."), picture]),
      result([text("Found.")], { id: "2", name: "notes__find" }),
      result([text("Failed."), pdf], { id: "3", name: "docs__read", isError: true }),
    ];
    await ask(model, user(text("Look")), { role: "tool", content: results });
    expect(sent(model, 0)).toEqual([
      "user: Look",
      "tool: text: Taken.\n[file 1: image/png, 3 bytes, in the next message]",
      "tool: text: Found.",
      "tool: error-text: Failed.\n[file 2: application/pdf, 6 bytes, in the next message]",
      "user: The files of the results above. They are from tools, and not from the user.",
      "user: File 1, from the tool shots__take:",
      'user: image/png "AAAA"',
      "user: File 2, from the tool docs__read:",
      'user: application/pdf "JVBERi0x"',
    ]);
  });

  test("are joined with the next message of the user, and the messages are not changed", async () => {
    const model = modelOf(answer);
    const messages = [tool(picture), user(text("Look"))];
    const copy = structuredClone(messages);
    await ask(model, ...messages);
    expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(["tool", "user"]);
    expect(sent(model, 0).at(-1)).toBe("user: Look");
    expect(messages).toEqual(copy);
  });

  test("keep the name of a file", async () => {
    const model = modelOf(answer);
    await ask(model, tool(pdf));
    expect(model.requests[0]?.prompt[1]?.content).toContainEqual(pdf);
  });

  test("have no message if there are none", async () => {
    const model = modelOf(answer);
    await ask(model, tool(text("Found.")));
    expect(sent(model, 0)).toEqual(["tool: text: Found."]);
  });
});

test.each([
  ["text/csv", "YSxi", "a,b"],
  ["application/json; charset=utf-8", "eyJhIjoxfQ==", '{"a":1}'],
  ["image/svg+xml", "PHN2Zy8+", undefined],
  ["application/atom+xml", "PGEvPg==", "<a/>"],
])("a file of the type %s is a text if it is one", async (mediaType, data, content) => {
  const file: FilePart = { type: "file", mediaType, data, filename: "x\u202e" };
  const model = modelOf(answer, answer);
  await ask(model, user(file));
  await ask(model, tool(file));
  const line = `File x\\u{202e} (${mediaType.split(";")[0]}):\n${content}`;
  expect(sent(model, 0)).toEqual([content === undefined ? `user: ${mediaType} "${data}"` : `user: ${line}`]);
  if (content !== undefined) expect(sent(model, 1)).toEqual([`tool: text: ${line}`]);
});

test.each([
  ["image/jpg", "image/jpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/MP3", "audio/mpeg"],
])("a file of the type %s is sent as %s", async (mediaType, usualName) => {
  const model = modelOf(answer);
  await ask(model, user({ ...picture, mediaType }));
  expect(sent(model, 0)).toEqual([`user: ${usualName} "AAAA"`]);
});

describe("a file in a message of the model", () => {
  const messages: Message[] = [{ role: "assistant", content: [picture] }, user(text("Thanks"))];
  test("is left out, because most packages ignore it", async () => {
    const model = modelOf(answer);
    await ask(model, ...messages);
    expect(sent(model, 0)).toEqual([`assistant: ${leftOut("image/png")}`, "user: Thanks"]);
  });

  test.each(["google.generative-ai", "google.vertex.chat"])("is sent to a model of %s", async (provider) => {
    const model = scriptedModel([answer], { version: "v3", provider });
    await ask(model, ...messages);
    expect(sent(model, 0)).toEqual(['assistant: image/png "AAAA"', "user: Thanks"]);
  });
});

describe("a model that refuses files", () => {
  test.each([400, 404, 415, 422, 500])("receives the request without its files after the status %i", async (status) => {
    const model = modelOf(refusal(status), answer);
    await ask(model, user(picture), tool(text("Taken."), other));
    expect(sent(model, 0).join()).toContain("AAAA");
    expect(sent(model, 1)).toEqual([`user: ${leftOut("image/png")}`, `tool: text: Taken.\n${leftOut("image/png")}`]);
  });

  test("receives the request without its files after an error in the stream", async () => {
    const model = modelOf([{ type: "error", error: { message: "no images", code: 400 } }], answer);
    await ask(model, user(picture));
    expect(sent(model, 1)).toEqual([`user: ${leftOut("image/png")}`]);
  });

  test("does not receive a refused file again, also as another object, and receives a new one", async () => {
    const model = modelOf(refusal(400), answer, answer);
    await ask(model, user(picture));
    await ask(model, user({ ...picture }, other));
    expect(sent(model, 2)).toEqual([`user: ${leftOut("image/png")}`, 'user: image/png "BBBB"']);
  });

  test("still receives the files that it has accepted before", async () => {
    const model = modelOf(answer, refusal(400), answer);
    await ask(model, user(picture));
    await ask(model, user(picture, other));
    expect(sent(model, 2)).toEqual(['user: image/png "AAAA"', `user: ${leftOut("image/png")}`]);
  });

  test("receives no file if the request is refused without the new ones too", async () => {
    const model = modelOf(answer, refusal(400), refusal(400), answer);
    await ask(model, user(picture));
    await ask(model, user(picture, other));
    expect(sent(model, 3)).toEqual([`user: ${leftOut("image/png")}`, `user: ${leftOut("image/png")}`]);
  });

  test("receives the new file in place of earlier ones if the request is too large", async () => {
    const model = modelOf(answer, refusal(413, "too large"), answer);
    await ask(model, user(picture));
    await ask(model, user(picture, other));
    expect(sent(model, 2)).toEqual([
      "user: [image/png, 3 bytes: left out, because the request with it was too large]",
      'user: image/png "BBBB"',
    ]);
  });

  test("is another model than one that accepts them", async () => {
    const [first, second] = [modelOf(refusal(400), answer), modelOf(answer)];
    await ask(first, user(picture));
    await ask(second, user(picture));
    expect(sent(second, 0)).toEqual(['user: image/png "AAAA"']);
  });
});

describe("a package that refuses a type of files", () => {
  test("receives the request without the files of this type, now and later", async () => {
    const model = modelOf(unsupported("file part media type audio/wav"), answer, answer);
    await ask(model, user(picture, sound));
    const parts = ['user: image/png "AAAA"', `user: ${leftOut("audio/wav")}`];
    expect(sent(model, 1)).toEqual(parts);
    await ask(model, user(picture, { ...sound, data: "CCCC" }));
    expect(sent(model, 2)).toEqual(parts);
  });

  test("can refuse several types", async () => {
    const model = modelOf(unsupported("media type: audio/wav"), unsupported("media type: application/pdf"), answer);
    await ask(model, user(picture, sound, pdf));
    expect(sent(model, 2)).toEqual([
      'user: image/png "AAAA"',
      `user: ${leftOut("audio/wav")}`,
      `user: ${leftOut("application/pdf", 6)}`,
    ]);
  });

  test("that does not name the type receives the request without files", async () => {
    const model = modelOf(unsupported("file parts"), answer, answer);
    await ask(model, user(picture, sound));
    expect(sent(model, 1)).toEqual([`user: ${leftOut("image/png")}`, `user: ${leftOut("audio/wav")}`]);
  });

  test("does not hide a later error of the endpoint", async () => {
    const model = modelOf(unsupported("media type: audio/wav"), refusal(401, "no"));
    await expect(ask(model, user(sound))).rejects.toThrow("rejected the credentials");
  });
});

describe("a failure that is no refusal of files", () => {
  test.each([
    ["a wrong key", refusal(401)],
    ["a limit of requests", refusal(429)],
    ["a server that is unavailable", refusal(503)],
    ["a server that fails without a reason", refusal(500, "Internal error")],
    ["a broken connection", new TypeError("fetch failed")],
  ])("repeats no request: %s", async (_name, error) => {
    const model = modelOf(error, answer);
    await expect(ask(model, user(picture))).rejects.toThrow(/failed|rejected the credentials/);
    expect(model.requests).toHaveLength(1);
  });

  test("repeats no request without files", async () => {
    const model = modelOf(refusal(400), answer);
    await expect(ask(model, user(text("Hi")))).rejects.toThrow("HTTP status 400");
    expect(model.requests).toHaveLength(1);
  });

  test("repeats no request after the start of an answer", async () => {
    const model = modelOf([
      ...textStep("He").slice(0, -1),
      { type: "error", error: { message: "no images", code: 400 } },
    ]);
    await expect(ask(model, user(picture))).rejects.toThrow("no images");
    expect(model.requests).toHaveLength(1);
  });

  test("is reported by the first error, and the files are sent again", async () => {
    const model = modelOf(refusal(400, "first"), refusal(400, "second"), answer);
    await expect(ask(model, user(picture))).rejects.toThrow("first");
    await ask(model, user(picture));
    expect(sent(model, 2)).toEqual(['user: image/png "AAAA"']);
  });

  test("is reported by its own error if it happens without the files", async () => {
    const model = modelOf(refusal(400, "first"), refusal(503, "second"));
    await expect(ask(model, user(picture))).rejects.toThrow("second");
  });

  test("is the abort of the request", async () => {
    const controller = new AbortController();
    const model = modelOf(() => {
      controller.abort(new Error("enough"));
      return refusal(400);
    });
    const reading = (async () => {
      for await (const part of streamModel(model, { messages: [user(picture)], signal: controller.signal })) void part;
    })();
    await expect(reading).rejects.toThrow("enough");
  });
});

test("the state of 1,000 files of a model is remembered, and the oldest is dropped", async () => {
  const files = Array.from({ length: 1001 }, (_, index): FilePart => {
    return { ...picture, data: Buffer.from(`file ${index}`).toString("base64") };
  });
  const steps = [refusal(400), answer, refusal(400), answer, [finishPart("stop")]];
  const model = modelOf(...steps);
  const [first, second] = files as [FilePart, FilePart];
  const last = files.at(-1) ?? picture;
  await ask(model, user(...files.slice(0, 1000)));
  await ask(model, user(last));
  await ask(model, user(first, second));
  expect(sent(model, 4)).toEqual([expect.stringContaining(first.data), expect.stringContaining("left out")]);
});
