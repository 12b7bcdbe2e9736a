import { beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../rpc/messages.ts";
import { type RawPeer, modernMeta, openPeer, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import type { Context, InputOptions } from "../core/context.ts";
import type { AnyServerDefinition } from "../core/options.ts";

const modern = "2026-07-28";
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const schema = z.object({ guests: z.number() });
const form = { message: "How many guests?", schema };
const answer = { action: "accept", content: { guests: 4 } };
const inTime = { "elicitation-1": answer };

type Ask = (ctx: Context) => Promise<unknown>;
type Options = InputOptions<unknown>;

function serve(ask: Ask, more: Partial<AnyServerDefinition> = {}) {
  const clock = fakeClock(1_000_000);
  const onError = vi.fn();
  const tools = { ask: tool({ call: async (_, ctx) => JSON.stringify((await ask(ctx)) ?? "none") }) };
  return { server: createServer({ name: "x", version: "1", clock, onError, tools, ...more }), clock, onError };
}

beforeAll(() => import("./elicit.ts"));

interface Way {
  name: string;
  method: string;
  ask: (options: Options) => Ask;
  response: JsonObject;
  value: unknown;
}

const rows: [Way["name"], Way["method"], Way["ask"], JsonObject, unknown][] = [
  ["a form", "elicitation/create", (options) => (ctx) => ctx.elicit(form, options), answer, { guests: 4 }],
  [
    "a URL",
    "elicitation/create",
    (options) => (ctx) => ctx.elicit({ message: "Sign in.", url: "https://a.example" }, options),
    { action: "accept" },
    "none",
  ],
  [
    "sampling",
    "sampling/createMessage",
    (options) => (ctx) => ctx.sample({ messages: [], maxTokens: 1 }, options),
    { role: "assistant", model: "m", content: { type: "text", text: "t" } },
    { role: "assistant", model: "m", content: { type: "text", text: "t" } },
  ],
  ["roots", "roots/list", (options) => (ctx) => ctx.roots(options), { roots: [] }, []],
];
const ways = rows.map(([name, method, ask, response, value]): Way => ({ name, method, ask, response, value }));

const textOf = (reply: { result: JsonObject }): string => (reply.result as any).content[0].text;

describe.each(ways)("$name", ({ name, method, ask, response, value }) => {
  const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"].filter((version) =>
    name === "a form" ? version >= "2025-06-18" : name === "a URL" ? version >= "2025-11-25" : true,
  );

  describe.each(revisions)("on %s", (version) => {
    test("the fallback replaces an answer that does not come in time, and the request is cancelled", async () => {
      const fallback = vi.fn(() => "later");
      const { server, clock, onError } = serve(ask({ timeout: 5_000, fallback }));
      const peer = await openPeer(server, version, capabilities);
      const id = peer.start("tools/call", { name: "ask" });
      const request = await peer.nextRequest(method);
      await clock.advance(4_999);
      expect(fallback).not.toHaveBeenCalled();
      await clock.advance(1);
      expect(textOf(await peer.response(id))).toBe('"later"');
      expect((await peer.nextNotification("notifications/cancelled")).params.requestId).toBe(request.id);
      expect(fallback).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "timeout" }));
      expect(onError).not.toHaveBeenCalled();
      expect(clock.pending).toBe(0);
    });

    test("an answer in time is the result, and the fallback is not called", async () => {
      const fallback = vi.fn();
      const { server, clock } = serve(ask({ timeout: 5_000, fallback }));
      const peer = await openPeer(server, version, capabilities);
      const id = peer.start("tools/call", { name: "ask" });
      const request = await peer.nextRequest(method);
      await clock.advance(4_999);
      peer.answer(request, response);
      expect(JSON.parse(textOf(await peer.response(id)))).toEqual(value);
      await clock.advance(5_000);
      expect(fallback).not.toHaveBeenCalled();
      expect(clock.pending).toBe(0);
    });
  });

  test(`on ${modern} the fallback replaces the answer of a late retry`, async () => {
    const fallback = vi.fn(() => "later");
    const { server, clock } = serve(ask({ timeout: 5_000, fallback }));
    const peer = await openPeer(server, modern, capabilities);
    const { result } = await peer.request("tools/call", { name: "ask" });
    const [key] = Object.keys(result.inputRequests as object) as [string];
    const retry = { name: "ask", requestState: result.requestState, inputResponses: { [key]: response } };
    await clock.advance(4_999);
    expect(JSON.parse(textOf(await peer.request("tools/call", retry)))).toEqual(value);
    expect(fallback).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(textOf(await peer.request("tools/call", retry))).toBe('"later"');
    expect(fallback).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "timeout" }));
  });
});

describe("in a session", () => {
  const open = async (options: Options, more: Partial<AnyServerDefinition> = {}) => {
    const served = serve((ctx) => ctx.elicit({ ...form, onProgress: () => {} }, options), more);
    const peer = await openPeer(served.server, "2025-11-25", capabilities);
    const id = peer.start("tools/call", { name: "ask" });
    const request = await peer.nextRequest("elicitation/create");
    return { ...served, peer, id, request };
  };

  test("progress of the client does not extend a timeout", async () => {
    const { clock, peer, id, request } = await open({ timeout: 5_000, fallback: () => "later" });
    await clock.advance(4_000);
    peer.notify("notifications/progress", { progressToken: request.id, progress: 1 });
    await clock.advance(1_000);
    expect(textOf(await peer.response(id))).toBe('"later"');
  });

  test("a timeout without a fallback is a tool error that names the question", async () => {
    const { clock, peer, id, onError } = await open({ timeout: 5_000 });
    await clock.advance(5_000);
    const { result } = await peer.response(id);
    expect(result).toMatchObject({ isError: true });
    expect(textOf({ result })).toBe('The question "How many guests?" was not answered within 5000 ms.');
    expect(onError).not.toHaveBeenCalled();
  });

  test("a timeout can be longer than limits.askTimeout", async () => {
    const limits = { askTimeout: 1_000 };
    const { clock, peer, id } = await open({ timeout: 5_000, fallback: () => "later" }, { limits });
    await clock.advance(4_999);
    expect(peer.received.some((message) => message.id === id)).toBe(false);
    await clock.advance(1);
    expect(textOf(await peer.response(id))).toBe('"later"');
  });

  test("a fallback without a timeout is called after limits.askTimeout", async () => {
    const limits = { askTimeout: 1_000 };
    const { clock, peer, id } = await open({ fallback: () => "later" }, { limits });
    await clock.advance(1_000);
    expect(textOf(await peer.response(id))).toBe('"later"');
  });

  test("the error of a fallback is the error of the call", async () => {
    const fallback = (): never => {
      throw new Error("no default");
    };
    const { clock, peer, id, onError } = await open({ timeout: 5_000, fallback });
    await clock.advance(5_000);
    expect((await peer.response(id)).error).toMatchObject({ message: "Internal error" });
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("no default"), expect.anything());
  });

  test.each([
    ["declines", { action: "decline" }],
    ["dismisses the form", { action: "cancel" }],
  ])("the fallback is not called if the user %s", async (_, response) => {
    const fallback = vi.fn();
    const { peer, id, request } = await open({ timeout: 5_000, fallback });
    peer.answer(request, response);
    expect((await peer.response(id)).result).toMatchObject({ isError: true });
    expect(fallback).not.toHaveBeenCalled();
  });
});

describe(`on ${modern}`, () => {
  const call = (peer: RawPeer, more: JsonObject = {}) => peer.request("tools/call", { name: "ask", ...more });
  const peerOf = (server: ReturnType<typeof serve>["server"]) =>
    rawPeer(server, { meta: modernMeta(modern, capabilities) });
  const first = async (ask: Ask, more: Partial<AnyServerDefinition> = {}) => {
    const served = serve(ask, more);
    const peer = await peerOf(served.server);
    const { requestState } = (await call(peer)).result;
    return { ...served, peer, requestState };
  };

  test("the fallback replaces an answer that a retry does not have", async () => {
    const { peer, requestState } = await first((ctx) => ctx.elicit(form, { timeout: 5_000, fallback: () => "later" }));
    expect(textOf(await call(peer, { requestState }))).toBe('"later"');
  });

  test("a timeout without a fallback is a tool error", async () => {
    const { peer, requestState, clock } = await first((ctx) => ctx.elicit(form, { timeout: 5_000 }));
    await clock.advance(5_000);
    const { result } = await call(peer, { requestState, inputResponses: inTime });
    expect(result).toMatchObject({ isError: true });
    expect(textOf({ result })).toContain('The question "How many guests?" was not answered within 5000 ms.');
  });

  test("a question without a time limit is asked again, and its late answer is the result", async () => {
    const { peer, requestState, clock } = await first((ctx) => ctx.elicit(form));
    await clock.advance(1_700_000);
    expect((await call(peer, { requestState })).result).toMatchObject({ resultType: "input_required" });
    expect(textOf(await call(peer, { requestState, inputResponses: inTime }))).toBe('{"guests":4}');
  });

  test("a fallback without a timeout has limits.askTimeout, and at most limits.stateTtl", async () => {
    for (const [limits, limit] of [
      [{ askTimeout: 1_000 }, 1_000],
      [{ askTimeout: 9_000, stateTtl: 2_000 }, 2_000],
    ] as const) {
      const fallback = vi.fn(() => "later");
      const { peer, requestState, clock } = await first((ctx) => ctx.elicit(form, { fallback }), { limits });
      await clock.advance(limit - 1);
      const retry = { requestState, inputResponses: inTime };
      expect(textOf(await call(peer, retry))).toBe('{"guests":4}');
      await clock.advance(1);
      // A state expires with `limits.stateTtl`.
      if (limit === 1_000) expect(textOf(await call(peer, retry))).toBe('"later"');
      else expect((await call(peer, retry)).error.code).toBe(-32602);
    }
  });

  test("an invalid answer is asked for again, within the time of the first request", async () => {
    const { peer, requestState, clock } = await first((ctx) =>
      ctx.elicit(form, { timeout: 5_000, fallback: () => "later" }),
    );
    await clock.advance(3_000);
    const wrong = { "elicitation-1": { action: "accept", content: { guests: "many" } } };
    const again = (await call(peer, { requestState, inputResponses: wrong })).result;
    expect(again).toMatchObject({ resultType: "input_required" });
    await clock.advance(1_999);
    const retry = { requestState: again.requestState, inputResponses: inTime };
    expect(textOf(await call(peer, retry))).toBe('{"guests":4}');
    await clock.advance(1);
    expect(textOf(await call(peer, retry))).toBe('"later"');
  });

  const two: Ask = async (ctx) => {
    const guests = await ctx.elicit(form, { timeout: 5_000, fallback: () => ({ guests: 1 }) });
    return { ...guests, ...(await ctx.elicit({ message: "Name?", schema: z.object({ name: z.string() }) })) };
  };
  const name = { "elicitation-2": { action: "accept", content: { name: "Ann" } } };

  test("an answer in time stays the answer in later rounds that come after the limit", async () => {
    const { peer, requestState, clock } = await first(two);
    const next = (await call(peer, { requestState, inputResponses: inTime })).result;
    await clock.advance(60_000);
    const reply = await call(peer, { requestState: next.requestState, inputResponses: name });
    expect(textOf(reply)).toBe('{"guests":4,"name":"Ann"}');
  });

  test("a question that was not answered in time stays so in later rounds, with any answer", async () => {
    const { peer, requestState } = await first(two);
    const next = (await call(peer, { requestState })).result;
    expect(Object.keys(next.inputRequests as object)).toEqual(["elicitation-2"]);
    const reply = await call(peer, { requestState: next.requestState, inputResponses: { ...inTime, ...name } });
    expect(textOf(reply)).toBe('{"guests":1,"name":"Ann"}');
  });

  test("each of two questions of one turn has its own time", async () => {
    const both: Ask = (ctx) =>
      Promise.all([
        ctx.elicit({ ...form, key: "short" }, { timeout: 1_000, fallback: () => "short" }),
        ctx.elicit({ ...form, key: "long" }, { timeout: 5_000, fallback: () => "long" }),
      ]);
    const { peer, requestState, clock } = await first(both);
    await clock.advance(1_000);
    const reply = await call(peer, { requestState, inputResponses: { short: answer, long: answer } });
    expect(textOf(reply)).toBe('["short",{"guests":4}]');
  });

  test("a fallback can ask another question", async () => {
    const ask: Ask = (ctx) =>
      ctx.elicit(form, {
        timeout: 1_000,
        fallback: () => ctx.elicit({ message: "Name?", schema: z.object({ name: z.string() }) }),
      });
    const { peer, requestState, clock } = await first(ask);
    await clock.advance(1_000);
    const next = (await call(peer, { requestState })).result;
    expect(textOf(await call(peer, { requestState: next.requestState, inputResponses: name }))).toBe('{"name":"Ann"}');
  });

  test("the error of a fallback is the error of the call", async () => {
    const fallback = () => Promise.reject(new Error("no default"));
    const { peer, requestState, onError } = await first((ctx) => ctx.elicit(form, { timeout: 1_000, fallback }));
    expect((await call(peer, { requestState })).error).toMatchObject({ code: -32603, message: "Internal error" });
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("no default"), expect.anything());
  });

  test("a state with a changed byte is refused, and cannot give a question more time", async () => {
    const { peer, requestState, clock } = await first((ctx) => ctx.elicit(form, { timeout: 1_000 }));
    await clock.advance(1_000);
    const bytes = Buffer.from(String(requestState), "base64url");
    for (const index of [20, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      const reply = await call(peer, { requestState: changed.toString("base64url"), inputResponses: inTime });
      expect(reply.error.code).toBe(-32602);
    }
  });

  test("the time of asking counts in another process with the same store", async () => {
    const clock: FakeClock = fakeClock(1_000_000);
    const store = memoryStore({ clock });
    const ask: Ask = (ctx) => ctx.elicit(form, { timeout: 5_000, fallback: () => "later" });
    const { requestState } = await first(ask, { clock, store });
    const other = await peerOf(serve(ask, { clock, store }).server);
    const retry = { requestState, inputResponses: inTime };
    await clock.advance(4_999);
    expect(textOf(await call(other, retry))).toBe('{"guests":4}');
    await clock.advance(1);
    expect(textOf(await call(other, retry))).toBe('"later"');
  });
});

test.each<[unknown, string]>([
  [{ timeout: 0 }, '"timeout" must be from 1 to 1800000 ms (limits.stateTtl); got 0'],
  [{ timeout: 1_800_001 }, "got 1800001"],
  [{ timeout: Number.NaN }, "got NaN"],
  [{ timeout: "5s" }, '"options.timeout" must be a number; got string'],
  [{ fallback: { guests: 2 } }, '"options.fallback" must be a function; got object'],
  [{ timeoutMs: 5 }, 'has the unknown member "timeoutMs"; did you mean "timeout"?'],
])("options %j are refused: %s", async (options, message) => {
  const errors: unknown[] = [];
  const { server } = serve((ctx) => ctx.elicit(form, options as Options).catch((error: unknown) => errors.push(error)));
  await (await openPeer(server, modern, capabilities)).request("tools/call", { name: "ask" });
  expect(errors).toMatchObject([{ name: "TypeError", message: expect.stringContaining(message) }]);
});

test.each<[unknown, string]>([
  ["How many?", '"question" must be an object'],
  [undefined, '"question" must be an object'],
  [{ message: "?", requestedSchema: schema }, 'use "schema" instead of "requestedSchema"'],
  [{ ...form, timeout: 5 }, 'use "the second parameter" instead of "timeout"'],
  [{ message: 5, schema }, '"question.message" must be a string; got number 5'],
  [{ ...form, onprogress: () => {} }, 'did you mean "onProgress"?'],
])("a question %j is refused: %s", async (question, message) => {
  const errors: unknown[] = [];
  const { server } = serve((ctx) => ctx.elicit(question as typeof form).catch((error: unknown) => errors.push(error)));
  await (await openPeer(server, modern, capabilities)).request("tools/call", { name: "ask" });
  expect(errors).toMatchObject([{ name: "TypeError", message: expect.stringContaining(message) }]);
});
