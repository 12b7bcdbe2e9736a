import { expect, test } from "vitest";
import { type Prompt, withReadableFiles } from "./endpoint-files.ts";
import { endpointModel } from "./endpoint-model.ts";
import {
  type ScriptedEndpoint,
  type ScriptedReply,
  ask,
  hello,
  scriptedEndpoint,
  textOf,
} from "./testing/scripted-endpoint.ts";

const refusal = (status: number): ScriptedReply => ({
  status,
  text: JSON.stringify({ error: { message: "this model does not support images" } }),
});

function picture(data: string): Prompt {
  return [{ role: "user", content: [{ type: "file", mediaType: "image/png", data }] }];
}

/** Returns a model of an endpoint with these replies, and the messages of its requests as text. */
async function readable(...replies: readonly ScriptedReply[]) {
  const { url, origin, requests } = await scriptedEndpoint(...replies);
  const endpoint = { href: url, origin, model: "m", key: undefined, keyEnv: undefined, provider: undefined };
  const model = withReadableFiles(await endpointModel(endpoint, "test"));
  return {
    model,
    sent: () => requests.map(({ body }: ScriptedEndpoint["requests"][number]) => JSON.stringify(body.messages)),
  };
}

test("sends the image of a result as an image, and never as text", async () => {
  const { model, sent } = await readable(hello);
  const value = [{ type: "image-data", mediaType: "image/png", data: "AAAA" } as const];
  const output = { type: "content" as const, value };
  await ask(model, {
    prompt: [{ role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "t", output }] }],
  });
  const [tool, user] = JSON.parse(sent()[0] ?? "[]") as { role: string; content: unknown }[];
  expect(tool).toEqual({
    role: "tool",
    tool_call_id: "1",
    content: "[file 1: image/png, 3 bytes, in the next message]",
  });
  expect(user?.content).toContainEqual({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } });
});

test.each([400, 404, 422, 500])("repeats a request without its files after the status %i", async (status) => {
  const { model, sent } = await readable(refusal(status), hello);
  expect(textOf(await ask(model, { prompt: picture("AAAA") }))).toBe("Hello.");
  expect(sent()).toHaveLength(2);
  expect(sent()[0]).toContain("image_url");
  expect(sent()[1]).toContain("[image/png, 3 bytes: the model cannot read this file]");
});

test("does not send a refused file again, and tries another one", async () => {
  const { model, sent } = await readable(refusal(400), hello);
  await ask(model, { prompt: picture("AAAA") });
  await ask(model, { prompt: [...picture("AAAA"), ...picture("BBBB")] });
  expect(sent()).toHaveLength(3);
  expect(sent()[2]).not.toContain("base64,AAAA");
  expect(sent()[2]).toContain("base64,BBBB");
});

test.each([401, 429, 503])("does not repeat a request after the status %i", async (status) => {
  const { model, sent } = await readable(refusal(status));
  await expect(ask(model, { prompt: picture("AAAA") })).rejects.toThrow(String(status));
  expect(sent()).toHaveLength(1);
});

test("does not repeat a request without files", async () => {
  const { model, sent } = await readable(refusal(400));
  await expect(ask(model)).rejects.toThrow("HTTP status 400");
  expect(sent()).toHaveLength(1);
});

test("reports the first error, and sends the file again, if the files were not the problem", async () => {
  const other: ScriptedReply = { status: 400, text: JSON.stringify({ error: { message: "second" } }) };
  const { model, sent } = await readable(refusal(400), other, hello);
  await expect(ask(model, { prompt: picture("AAAA") })).rejects.toThrow("does not support images");
  await ask(model, { prompt: picture("AAAA") });
  expect(sent()[2]).toContain("base64,AAAA");
});
