import { describe, expect, test } from "vitest";
import { findNotJson, isJson } from "../../rpc/json-values.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { openClient } from "../open-client.ts";

const cycle: Record<string, unknown> = { list: [] };
(cycle.list as unknown[]).push({ back: cycle });
const throwing = {
  toJSON: () => {
    throw new Error("closed file");
  },
};
const inputs = { d: 1 };
let deep: unknown = 1;
for (let level = 0; level < 100_000; level++) deep = [deep];

describe("arguments that JSON cannot represent", () => {
  test.each<[string, unknown, string]>([
    ["a bigint", { a: { b: [1, 2n] } }, '"arguments.a.b[1]" is a bigint'],
    ["a cycle", { a: cycle }, '"arguments.a.list[0].back" contains itself'],
    ["a function", { run: () => 1 }, '"arguments.run" is a function'],
    ["a symbol", { s: Symbol("x") }, '"arguments.s" is a symbol'],
    ["a function in place of all arguments", () => 1, '"arguments" is a function'],
    ["a toJSON that throws", { file: throwing }, '"arguments.file" has a toJSON method that throws (closed file)'],
    ["a toJSON that returns a bigint", { id: { toJSON: () => 1n } }, '"arguments.id" is a bigint'],
    ["too many levels", { deep }, "is nested more than 1000 levels deep"],
  ])("%s is refused before it is sent, and the error names the argument", async (_, args, why) => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const error: unknown = await client.callTool("a", args as JsonObject).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "invalid_message", data: { safeToRepeat: true } });
    expect(String(error)).toContain(`tools/call "a" was not sent: ${why.startsWith("is") ? "" : why}`);
    expect(String(error)).toContain(why);
    expect(String(error)).not.toContain("repeat");
    expect(peer.arrived.length).toBe(1);
    expect(client.inFlight).toBe(0);
  });

  test.each<[string, unknown]>([
    ["dates and other values with toJSON", { at: new Date(0), url: new URL("https://x.example/") }],
    ["members without a value", { a: undefined, b: null, c: [undefined] }],
    ["the same object twice", { a: inputs, b: { c: [inputs, inputs] } }],
    ["objects without a prototype", { a: Object.assign(Object.create(null) as object, { b: 1 }) }],
    ["many levels", { a: JSON.parse("[".repeat(500) + "]".repeat(500)) as unknown }],
  ])("%s are sent", async (_, args) => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    client.callTool("a", args as JsonObject).catch(() => {});
    expect((await peer.request("tools/call")).params?.arguments).toBe(args);
    await client.close();
  });

  test("other requests, `meta` and notifications with such values are refused as well", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    for (const sent of [
      client.readResource(1n as never),
      client.getPrompt("p", { a: 1n as never }),
      client.request("com.example/do", { cycle }),
      client.callTool("a", {}, { meta: { trace: 1n } }),
      client.notify("notifications/x", { a: 1n }),
    ]) {
      await expect(sent).rejects.toMatchObject({ code: "invalid_message" });
    }
    expect(peer.arrived.length).toBe(1);
  });
});

test("a sampling result that JSON cannot represent is reported, and the server receives an error", async () => {
  const errors: Error[] = [];
  const peer = legacyPeer();
  const content = { type: "text", text: 1n as unknown as string } as const;
  await openClient(peerTransports(peer), {
    revision: "2025-11-25",
    onError: (error) => errors.push(error),
    sample: () => ({ role: "assistant", content, model: "m" }),
  });
  await peer.notification("notifications/initialized");
  peer.ask("q", "sampling/createMessage", { messages: [], maxTokens: 1 });
  expect(await peer.next()).toMatchObject({ id: "q", error: { code: -32603 } });
  expect(errors[0]).toMatchObject({
    code: "invalid_result",
    message: expect.stringContaining('"content.text" is a bigint'),
  });
});

test("isJson accepts plain JSON values that findNotJson accepts, and rejects all others", () => {
  for (const value of [1, "x", null, undefined, true, [1, { a: [] }], { a: { b: "c" } }]) {
    expect(isJson(value)).toBe(true);
    expect(findNotJson(value, "")).toBeUndefined();
  }
  for (const value of [1n, () => 1, Symbol("x"), [1n], { a: [() => 1] }, cycle, new Date(), throwing]) {
    expect(isJson(value)).toBe(false);
  }
});
