import { describe, expect, test, vi } from "vitest";
import { prompt, tool } from "../definition.ts";
import type { ServerLimits } from "../core/options.ts";
import { createServer } from "../create-server.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";

const modern = "2026-07-28";
const echo = tool({ call: () => "done" });
const cities = ["Berlin", "Bern", "Oslo"];
const trip = prompt({
  arguments: { city: { complete: cities }, street: { complete: (typed) => [typed] } },
  get: () => "",
});

function serverWith(limits: Partial<ServerLimits> = {}) {
  return createServer({ name: "test", version: "1.0.0", tools: { echo }, prompts: { trip }, resources: {}, limits });
}

/** Attaches a modern peer, or a legacy one with an open session. */
async function connect(revision: string, limits?: Partial<ServerLimits>): Promise<RawPeer> {
  const peer = await rawPeer(serverWith(limits), revision === modern ? { meta: modernMeta(modern) } : {});
  if (revision !== modern) await openSession(peer, revision);
  return peer;
}

describe.each([modern, "2025-11-25"])("on revision %s", (revision) => {
  const call = async (peer: RawPeer, progressToken: unknown) => {
    const _meta = revision === modern ? modernMeta(modern, {}, { progressToken }) : { progressToken };
    return peer.request("tools/call", { name: "echo", _meta });
  };

  test.each([
    ["a string", "t"],
    ["an empty string", ""],
    ["an integer", 7],
    ["a safe integer", Number.MAX_SAFE_INTEGER],
    ["null, which is no token", null],
  ])("a progress token may be %s", async (_, token) => {
    expect((await call(await connect(revision), token)).error).toBeUndefined();
  });

  test.each([
    ["a boolean", true],
    ["an object", {}],
    ["a fraction", 1.5],
    ["an unsafe integer", Number.MAX_SAFE_INTEGER + 1],
  ])("a progress token that is %s is refused", async (_, token) => {
    const { error } = await call(await connect(revision), token);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain("params._meta.progressToken");
  });

  test("a progress token has at most 1,024 characters", async () => {
    const peer = await connect(revision);
    expect((await call(peer, "t".repeat(1024))).error).toBeUndefined();
    expect((await call(peer, "t".repeat(1025))).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("1024") as string,
    });
  });

  test("a request id has at most 1,024 characters, and a longer one is not repeated in the error", async () => {
    const peer = await connect(revision);
    expect((await peer.request("tools/list", {}, { id: "i".repeat(1024) })).error).toBeUndefined();
    peer.send({ jsonrpc: "2.0", id: "i".repeat(1025), method: "tools/list", params: { _meta: modernMeta(modern) } });
    const refused = await peer.next((message) => "error" in message);
    expect(refused).toMatchObject({ error: { code: -32600, message: expect.stringContaining("1024") as string } });
    expect(refused).not.toHaveProperty("id");
  });

  test("limits.idLength sets the length of ids and progress tokens", async () => {
    const peer = await connect(revision, { idLength: 3 });
    expect((await call(peer, "ttt")).error).toBeUndefined();
    expect((await call(peer, "tttt")).error.code).toBe(-32602);
    peer.send({ jsonrpc: "2.0", id: "iiii", method: "tools/list" });
    expect(await peer.next((message) => "error" in message && !("id" in message))).toMatchObject({
      error: { code: -32600 },
    });
  });

  const complete = (peer: RawPeer, argument: object, context?: object) =>
    peer.request("completion/complete", {
      ref: { type: "ref/prompt", name: "trip" },
      argument,
      ...(context && { context }),
    });

  test("a typed value has at most 1,024 characters", async () => {
    const peer = await connect(revision);
    const { result } = await complete(peer, { name: "street", value: "x".repeat(1024) });
    expect((result.completion as { values: string[] }).values[0]).toHaveLength(1024);
    const { error } = await complete(peer, { name: "street", value: "x".repeat(1025) });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("params.argument.value") as string });
    expect(error.message).toContain("1024");
  });

  test("an argument that is filled in already has at most 1,024 characters", async () => {
    const peer = await connect(revision);
    const given = (length: number) => ({ arguments: { city: "x".repeat(length) } });
    expect((await complete(peer, { name: "street", value: "" }, given(1024))).error).toBeUndefined();
    const { error } = await complete(peer, { name: "street", value: "" }, given(1025));
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("params.context.arguments.city") as string,
    });
  });

  test("limits.completionLength sets the length of values", async () => {
    const peer = await connect(revision, { completionLength: 2 });
    expect((await complete(peer, { name: "city", value: "be" })).result.completion).toMatchObject({ total: 2 });
    expect((await complete(peer, { name: "city", value: "ber" })).error.code).toBe(-32602);
  });
});

test("a legacy session keeps at most 64 KiB of initialize and subscribed URIs", async () => {
  const initialize = async (title: string, limits: Partial<ServerLimits> = {}) => {
    const peer = await rawPeer(serverWith(limits));
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "raw", version: "1", title },
    };
    return { peer, size: JSON.stringify(params).length, answer: await peer.request("initialize", params) };
  };
  const { size } = await initialize("");
  expect((await initialize("x".repeat(65_536 - size))).answer.error).toBeUndefined();
  const { peer, answer } = await initialize("x".repeat(65_537 - size));
  expect(answer.error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("limits.sessionSize") as string,
  });
  expect((await peer.request("tools/list")).error.message).toContain("initialize");
  const small = await initialize("", { sessionSize: size + 4 });
  expect((await small.peer.request("resources/subscribe", { uri: "r://" })).error).toBeUndefined();
  expect((await small.peer.request("resources/subscribe", { uri: "s" })).error.message).toContain("limits.sessionSize");
});

test("candidates are lower-cased once, and the typed value once for each request", async () => {
  const peer = await connect(modern);
  const ask = () =>
    peer.request("completion/complete", {
      ref: { type: "ref/prompt", name: "trip" },
      argument: { name: "city", value: "BER" },
    });
  await ask();
  const encoder = vi.spyOn(String.prototype, "toLowerCase");
  try {
    expect((await ask()).result.completion).toMatchObject({ values: ["Berlin", "Bern"] });
    expect(encoder).toHaveBeenCalledTimes(1);
  } finally {
    encoder.mockRestore();
  }
});
