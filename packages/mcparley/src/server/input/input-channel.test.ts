import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { accept, callAnswering, serverOf, textOf } from "mcparley-tests/support/asking-server.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { type RawPeer, modernMeta, openPeer, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import type { Context, Principal } from "../core/context.ts";
import { prompt, resource, tool } from "../definition.ts";
import { inputRequired } from "../core/input-required.ts";
import { createServer } from "../create-server.ts";

const modern = "2026-07-28";
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

describe.each([
  ["2025-06-18", false],
  ["2025-11-25", false],
  [modern, true],
])("on %s", (version, isModern) => {
  const open = (server: ReturnType<typeof serverOf>, capabilities: JsonObject = everything): Promise<RawPeer> =>
    openPeer(server, version, capabilities);

  test("elicit returns the parsed content", async () => {
    const peer = await open(
      serverOf(async (ctx) => {
        const { name, age } = await ctx.elicit({
          message: "Who?",
          schema: z.object({ name: z.string(), age: z.number().default(7) }),
        });
        return `${name} ${age + 1}`;
      }),
    );
    expect(textOf(await callAnswering(peer, isModern, [{ "elicitation/create": accept({ name: "Ada" }) }]))).toBe(
      "Ada 8",
    );
  });

  test("sequential elicitations each receive their response", async () => {
    const peer = await open(
      serverOf(async (ctx) => {
        const schema = z.object({ v: z.string() });
        const first = await ctx.elicit({ message: "1", schema });
        const second = await ctx.elicit({ message: "2", schema });
        return first.v + second.v;
      }),
    );
    const answers = [{ "elicitation/create": accept({ v: "a" }) }, { "elicitation/create": accept({ v: "b" }) }];
    expect(textOf(await callAnswering(peer, isModern, answers))).toBe("ab");
  });

  test("elicitation, sampling and roots requests of one turn are sent together", async () => {
    const peer = await open(
      serverOf(async (ctx) => {
        const [form, message, roots] = await Promise.all([
          ctx.elicit({ message: "?", schema: z.object({ v: z.string() }) }),
          ctx.sample({ messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 10 }),
          ctx.roots(),
        ]);
        return `${form.v} ${message.model} ${roots[0]?.uri}`;
      }),
    );
    const round = {
      "elicitation/create": accept({ v: "x" }),
      "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "yo" } },
      "roots/list": { roots: [{ uri: "file:///a" }, "not a root"] },
    };
    expect(textOf(await callAnswering(peer, isModern, [round]))).toBe("x m file:///a");
  });

  test("a response that is nested 900 levels deep fails the call before it is validated", async () => {
    let validated = 0;
    const schema = z.looseObject({ v: z.string().optional() }).refine(() => ++validated > 0);
    const peer = await open(serverOf(async (ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema }))));
    const deep = Array.from({ length: 900 }).reduce<JsonObject>((a) => ({ a }), {});
    const reply = await callAnswering(peer, isModern, [{ "elicitation/create": accept({ v: deep }) }]);
    expect(JSON.stringify(reply)).toContain("nested more than 64 levels deep");
    expect(validated).toBe(0);
  });

  test("a declined elicitation throws Declined, and a cancelled one Cancelled", async () => {
    const server = serverOf(async (ctx) => {
      try {
        await ctx.elicit({ message: "?", schema: z.object({}) });
        return "accepted";
      } catch (error) {
        if (error instanceof Declined) return "declined";
        if (error instanceof Cancelled) return "cancelled";
        throw error;
      }
    });
    for (const [action, said] of [
      ["decline", "declined"],
      ["cancel", "cancelled"],
    ] as const) {
      expect(textOf(await callAnswering(await open(server), isModern, [{ "elicitation/create": { action } }]))).toBe(
        said,
      );
    }
  });

  test("a refusal that the handler does not catch is a tool error", async () => {
    const peer = await open(serverOf((ctx) => ctx.elicit({ message: "?", schema: z.object({}) })));
    const { result } = await callAnswering(peer, isModern, [{ "elicitation/create": { action: "decline" } }]);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("declined") as string }] });
  });

  test("a client without the capability receives an error that names it, and no input request", async () => {
    const peer = await open(
      serverOf((ctx) => ctx.elicit({ message: "?", schema: z.object({}) })),
      { sampling: {} },
    );
    const { error } = await peer.request("tools/call", { name: "ask" });
    expect(error).toMatchObject({
      code: isModern ? -32021 : -32600,
      message: expect.stringContaining("elicitation") as string,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect(peer.received.filter((message) => "method" in message)).toEqual([]);
  });

  test("a missing capability of one of several input requests fails the call with that error", async () => {
    const peer = await open(
      serverOf((ctx) => Promise.all([ctx.elicit({ message: "?", schema: z.object({}) }), ctx.roots()])),
      { roots: {} },
    );
    const { error } = await peer.request("tools/call", { name: "ask" });
    expect(error).toMatchObject({ data: { requiredCapabilities: { elicitation: { form: {} } } } });
  });

  test("an empty elicitation capability means form mode only", async () => {
    const peer = await open(
      serverOf((ctx) => ctx.elicit({ message: "?", url: "https://example.com/" })),
      { elicitation: {} },
    );
    const { error } = await peer.request("tools/call", { name: "ask" });
    expect(error.message).toContain("elicitation.url");
  });

  test("sampling with tools needs the capability for it", async () => {
    const tools = [{ name: "t", inputSchema: { type: "object" } }];
    const peer = await open(
      serverOf((ctx) => ctx.sample({ messages: [], maxTokens: 1, tools })),
      { sampling: {} },
    );
    expect((await peer.request("tools/call", { name: "ask" })).error.message).toContain("sampling.tools");
  });

  test("once runs its function once, and the handler several times", async () => {
    const effect = vi.fn<() => string>(() => "made");
    const peer = await open(
      serverOf(async (ctx) => {
        const made = await ctx.once("effect", effect);
        const { ok } = await ctx.elicit({ message: "?", schema: z.object({ ok: z.boolean() }) });
        const { sure } = await ctx.elicit({ message: "??", schema: z.object({ sure: z.boolean() }) });
        return `${made} ${ok} ${sure}`;
      }),
    );
    const answers = [{ "elicitation/create": accept({ ok: true }) }, { "elicitation/create": accept({ sure: false }) }];
    expect(textOf(await callAnswering(peer, isModern, answers))).toBe("made true false");
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test("inputRequired sends its requests unchanged, with the state of the handler", async () => {
    const peer = await open(
      serverOf((ctx) => {
        if (ctx.requestState === undefined) {
          const params = { message: "?", requestedSchema: { type: "object", properties: { a: { type: "number" } } } };
          return inputRequired({
            inputRequests: { who: { method: "elicitation/create", params } },
            requestState: "round-1",
          });
        }
        return `${ctx.requestState} ${JSON.stringify(ctx.inputResponses)}`;
      }),
    );
    const text = textOf(await callAnswering(peer, isModern, [{ "elicitation/create": accept({ a: 1 }) }]));
    expect(text).toBe('round-1 {"who":{"action":"accept","content":{"a":1}}}');
  });

  if (isModern) {
    const inWireForm = (): ReturnType<typeof open> =>
      open(
        serverOf((ctx) => {
          const { who } = ctx.inputResponses;
          if (who) return JSON.stringify(who);
          const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
          return inputRequired({ inputRequests: { who: { method: "elicitation/create", params } } });
        }),
      );

    test("inputRequired without a state accepts responses without a state", async () => {
      const inputResponses = { who: accept({ a: 1 }), unasked: accept({}) };
      const response = (await inWireForm()).request("tools/call", { name: "ask", inputResponses });
      expect(textOf(await response)).toBe(JSON.stringify(accept({ a: 1 })));
    });

    test.each([{ who: 12345 }, { who: [accept({})] }, [accept({})], 5])(
      "a malformed response is rejected before the handler runs: %j",
      async (inputResponses) => {
        const { error } = await (await inWireForm()).request("tools/call", { name: "ask", inputResponses });
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("inputResponses") as string });
      },
    );
  }

  test("prompts and resources can send input requests", async () => {
    const schema = z.object({ v: z.string() });
    const server = createServer({
      name: "x",
      version: "1",
      prompts: { p: prompt({ get: async (_, ctx) => (await ctx.elicit({ message: "?", schema })).v }) },
      resources: { r: resource("r://1", { read: async (_, ctx) => (await ctx.elicit({ message: "?", schema })).v }) },
    });
    for (const [method, params] of [
      ["prompts/get", { name: "p" }],
      ["resources/read", { uri: "r://1" }],
    ] as const) {
      const peer = await open(server as never);
      let final: JsonObject;
      if (isModern) {
        const { result } = await peer.request(method, params);
        const inputResponses = { [Object.keys(result.inputRequests as object)[0] ?? ""]: accept({ v: "said" }) };
        final = (await peer.request(method, { ...params, inputResponses, requestState: result.requestState })).result;
      } else {
        const response = peer.request(method, params);
        peer.answer(await peer.nextRequest("elicitation/create"), accept({ v: "said" }));
        final = (await response).result;
      }
      expect(JSON.stringify(final)).toContain('"said"');
    }
  });
});

describe("the state of a modern call", () => {
  const asking = (options?: object) =>
    serverOf(
      async (ctx) => (await ctx.elicit({ message: "?", key: "who", schema: z.object({ name: z.string() }) })).name,
      options,
    );
  const meta = modernMeta(modern, everything);

  async function firstRound(server = asking(), principal?: Principal) {
    const peer = await rawPeer(
      { attach: (transport) => server.attach(transport, principal && { principal }) },
      { meta },
    );
    const { result } = await peer.request("tools/call", { name: "ask" });
    return { peer, server, requestState: result.requestState as string };
  }

  const answered = { inputResponses: { who: accept({ name: "Ada" }) } };

  test("is sealed: it cannot be read, and a changed character is rejected with a fixed message", async () => {
    const { peer, requestState } = await firstRound();
    expect(atob(requestState.replaceAll("-", "+").replaceAll("_", "/"))).not.toContain("who");
    const changed = requestState.slice(0, 40) + (requestState[40] === "A" ? "B" : "A") + requestState.slice(41);
    const messages = new Set<string>();
    for (const state of [changed, "", "nonsense!", `${requestState}-TAMPERED`, requestState.slice(0, -1)]) {
      const { error } = await peer.request("tools/call", { name: "ask", ...answered, requestState: state });
      expect(error.code).toBe(-32602);
      messages.add(error.message);
    }
    expect(messages.size).toBe(1);
    expect(textOf(await peer.request("tools/call", { name: "ask", ...answered, requestState }))).toBe("Ada");
  });

  test("is bound to the caller, the method, the name and the arguments", async () => {
    const ada: Principal = { issuer: "https://i", subject: "ada", scopes: [] };
    const server = createServer({
      name: "x",
      version: "1",
      tools: Object.fromEntries(
        ["ask", "other"].map((name) => [
          name,
          tool({
            input: z.object({ n: z.number().optional() }),
            call: async (_, ctx) =>
              (await ctx.elicit({ message: "?", key: "who", schema: z.object({ name: z.string() }) })).name,
          }),
        ]),
      ),
    });
    const { peer, requestState } = await firstRound(server as never, ada);
    const bob = await rawPeer(
      { attach: (transport) => server.attach(transport, { principal: { ...ada, subject: "bob" } }) },
      { meta },
    );
    expect((await bob.request("tools/call", { name: "ask", ...answered, requestState })).error.code).toBe(-32602);
    expect((await peer.request("tools/call", { name: "other", ...answered, requestState })).error.code).toBe(-32602);
    expect(
      (await peer.request("tools/call", { name: "ask", arguments: { n: 1 }, ...answered, requestState })).error.code,
    ).toBe(-32602);
    expect(textOf(await peer.request("tools/call", { name: "ask", ...answered, requestState }))).toBe("Ada");
  });

  test("expires", async () => {
    let now = 1000;
    const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
    const { peer, requestState } = await firstRound(asking({ clock, limits: { stateTtl: 60_000 } }));
    now += 59_999;
    expect(textOf(await peer.request("tools/call", { name: "ask", ...answered, requestState }))).toBe("Ada");
    now += 1;
    expect((await peer.request("tools/call", { name: "ask", ...answered, requestState })).error.code).toBe(-32602);
  });

  test("opens with an older key, and not with a removed one", async () => {
    const [older, newer] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const { requestState } = await firstRound(asking({ stateKeys: [older] }));
    const request = { name: "ask", ...answered, requestState };
    const rotated = await firstRound(asking({ stateKeys: [newer, older] }));
    expect(textOf(await rotated.peer.request("tools/call", request))).toBe("Ada");
    const removed = await firstRound(asking({ stateKeys: [newer] }));
    expect((await removed.peer.request("tools/call", request)).error.code).toBe(-32602);
  });

  test("accepts a response only to a request of the last round", async () => {
    const server = serverOf(async (ctx) => {
      const schema = z.object({ v: z.string() });
      const one = await ctx.elicit({ message: "1", key: "one", schema });
      const two = await ctx.elicit({ message: "2", key: "two", schema });
      return one.v + two.v;
    });
    const peer = await rawPeer(server, { meta });
    const unasked = { one: accept({ v: "x" }), two: accept({ v: "y" }) };
    const first = await peer.request("tools/call", { name: "ask", inputResponses: unasked });
    expect(Object.keys(first.result.inputRequests as object)).toEqual(["one"]);
    const second = await peer.request("tools/call", {
      name: "ask",
      inputResponses: unasked,
      requestState: first.result.requestState,
    });
    expect(Object.keys(second.result.inputRequests as object)).toEqual(["two"]);
    const inputResponses = { one: accept({ v: "late" }), two: accept({ v: "b" }) };
    expect(
      textOf(
        await peer.request("tools/call", { name: "ask", inputResponses, requestState: second.result.requestState }),
      ),
    ).toBe("xb");
  });

  test.each(["none", 5, true, [[]], { who: 12345 }, { who: [] }])(
    "rejects responses of a wrong type: %j",
    async (inputResponses) => {
      const { peer, requestState } = await firstRound();
      const { error } = await peer.request("tools/call", { name: "ask", inputResponses, requestState });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("inputResponses") as string });
    },
  );

  test.each([
    ["a missing one", {}],
    ["one of another key", { nobody: accept({ name: "Ada" }) }],
    ["one that does not match the form", { who: accept({ name: 5 }) }],
    ["no response", undefined],
  ])("sends a request again after an invalid response: %s", async (_, inputResponses) => {
    const { peer, requestState } = await firstRound();
    const { result } = await peer.request("tools/call", { name: "ask", inputResponses, requestState });
    expect(result).toMatchObject({
      resultType: "input_required",
      inputRequests: { who: { method: "elicitation/create" } },
    });
  });

  test("ignores extra responses", async () => {
    const { peer, requestState } = await firstRound();
    const inputResponses = { ...answered.inputResponses, extra: accept({}) };
    expect(textOf(await peer.request("tools/call", { name: "ask", inputResponses, requestState }))).toBe("Ada");
  });

  test("finally blocks run when a call ends with input requests", async () => {
    const released = vi.fn<() => void>();
    const server = serverOf(async (ctx) => {
      try {
        return await ctx.elicit({ message: "?", schema: z.object({}) });
      } finally {
        released();
      }
    });
    const peer = await rawPeer(server, { meta });
    expect((await peer.request("tools/call", { name: "ask" })).result.resultType).toBe("input_required");
    expect(released).toHaveBeenCalledTimes(1);
  });

  test("a handler that catches the suspension cannot replace the input requests with a result", async () => {
    const server = serverOf(async (ctx) => {
      try {
        await ctx.elicit({ message: "?", schema: z.object({}) });
      } catch {
        return "ignored the user";
      }
      return "asked";
    });
    const peer = await rawPeer(server, { meta });
    expect((await peer.request("tools/call", { name: "ask" })).result.resultType).toBe("input_required");
  });

  test("a state over its limit is an internal error", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const server = serverOf(
      async (ctx) => {
        await ctx.once("big", () => "x".repeat(70_000));
        await ctx.elicit({ message: "?", schema: z.object({}) });
      },
      { onError },
    );
    const peer = await rawPeer(server, { meta });
    expect((await peer.request("tools/call", { name: "ask" })).error).toEqual({
      code: -32603,
      message: "Internal error",
    });
    const message = expect.stringMatching(/at most \d+ are allowed. Keep large values on the server/) as string;
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: "too_large", message });
  });

  test("input requests are an error in a method that the revision does not allow them in", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const listed = resource("r://{id}", {
      list: async (ctx) => (await ctx.roots()).map(({ uri }) => uri),
      read: () => "",
    });
    const server = createServer({ name: "x", version: "1", resources: { listed }, onError });
    const peer = await rawPeer(server, { meta });
    expect((await peer.request("resources/list")).error.code).toBe(-32603);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ message: expect.stringContaining("resources/list") as string });
  });

  test("inputRequired rejects a method that is no input request", () => {
    expect(() => inputRequired({ inputRequests: { q: { method: "tools/call" } } })).toThrow("cannot send tools/call");
  });

  test("two input requests with one key are reported to onError", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const question = { message: "?", key: "same", schema: z.object({}) };
    const server = serverOf((ctx) => Promise.all([ctx.elicit(question), ctx.elicit(question)]), { onError });
    const peer = await rawPeer(server, { meta });
    await peer.request("tools/call", { name: "ask" });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ message: expect.stringContaining('"same"') as string });
  });
});

describe("input requests of a legacy session", () => {
  test("a cancelled call cancels its input request", async () => {
    const peer = await rawPeer(serverOf((ctx) => ctx.elicit({ message: "?", schema: z.object({}) })));
    await openSession(peer, "2025-11-25", everything);
    peer.send({ jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "ask" } });
    const question = await peer.nextRequest("elicitation/create");
    peer.notify("notifications/cancelled", { requestId: "c" });
    expect(await peer.nextNotification("notifications/cancelled")).toMatchObject({
      params: { requestId: question.id },
    });
  });

  test("a response settles only the request with the same id, by type and value", async () => {
    const peer = await rawPeer(
      serverOf(async (ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema: z.object({ a: z.string() }) }))),
    );
    await openSession(peer, "2025-11-25", everything);
    const response = peer.request("tools/call", { name: "ask" });
    const question = await peer.nextRequest("elicitation/create");
    peer.send({ jsonrpc: "2.0", id: String(question.id), result: accept({ a: "forged" }) });
    peer.answer(question, accept({ a: "true" }));
    expect(textOf(await response)).toBe('{"a":"true"}');
  });

  test("a client's error rejects the input request", async () => {
    const server = serverOf((ctx) => ctx.roots().then(String, (error: Error) => `refused: ${error.message}`));
    const peer = await rawPeer(server);
    await openSession(peer, "2025-11-25", everything);
    const response = peer.request("tools/call", { name: "ask" });
    peer.send({
      jsonrpc: "2.0",
      id: (await peer.nextRequest("roots/list")).id,
      error: { code: -1, message: "no roots for you" },
    });
    expect(textOf(await response)).toBe("refused: The client answered roots/list with -1: no roots for you");
  });

  test.each([
    ["tools/call", { name: "ask" }],
    ["prompts/get", { name: "ask" }],
    ["resources/read", { uri: "ask://it" }],
  ])("a client's error has another code in the response of %s", async (method, params) => {
    const ask = (_: unknown, ctx: Context): Promise<never> =>
      ctx.elicit({ message: "?", schema: z.object({}) }) as never;
    const server = serverOf((ctx) => ask(undefined, ctx), {
      prompts: { ask: prompt({ get: ask }) },
      resources: { ask: resource("ask://it", { read: ask }) },
    });
    const peer = await rawPeer(server);
    await openSession(peer, "2025-11-25", everything);
    const response = peer.request(method, params);
    const { id } = await peer.nextRequest("elicitation/create");
    peer.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    expect((await response).error).toEqual({
      code: -32600,
      message: "The client answered elicitation/create with -32601: Method not found",
      data: { method: "elicitation/create", code: -32601 },
    });
  });

  test("a form on 2025-06-18 has enumNames for titled choices, and text for several choices", async () => {
    const schema = {
      type: "object",
      properties: {
        color: {
          type: "string",
          oneOf: [
            { const: "r", title: "Red" },
            { const: "g", title: "Green" },
          ],
        },
        sizes: { type: "array", items: { type: "string", enum: ["s", "m", "l"] } },
      },
      required: ["color", "sizes"],
    };
    const peer = await rawPeer(serverOf(async (ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema }))));
    await openSession(peer, "2025-06-18", { elicitation: {} });
    const response = peer.request("tools/call", { name: "ask" });
    const question = await peer.nextRequest("elicitation/create");
    expect(question.params).not.toHaveProperty("mode");
    expect(question.params?.requestedSchema).toMatchObject({
      properties: { color: { enum: ["r", "g"], enumNames: ["Red", "Green"] }, sizes: { type: "string" } },
    });
    peer.answer(question, accept({ color: "r", sizes: "s, l" }));
    expect(textOf(await response)).toBe('{"color":"r","sizes":["s","l"]}');
  });
});

describe("includeContext is sent", () => {
  const params = {
    messages: [{ role: "user" as const, content: { type: "text" as const, text: "hi" } }],
    maxTokens: 1,
    includeContext: "thisServer" as const,
  };
  const sampler = serverOf(async (ctx) => (await ctx.sample(params)).model);

  test.each([
    ["2024-11-05", {}, true],
    ["2025-06-18", {}, true],
    ["2025-11-25", {}, false],
    ["2025-11-25", { context: {} }, true],
  ])("in %s of a client with %j: %s", async (version, sampling, isAsked) => {
    const peer = await rawPeer(sampler);
    await openSession(peer, version, { sampling });
    const response = peer.request("tools/call", { name: "ask" });
    const question = await peer.nextRequest("sampling/createMessage");
    expect("includeContext" in question.params).toBe(isAsked);
    peer.answer(question, { role: "assistant", model: "m", content: { type: "text", text: "yo" } });
    expect(textOf(await response)).toBe("m");
  });

  test.each([
    [{}, false],
    [{ context: {} }, true],
  ])("in the newest revision of a client with %j: %s", async (sampling, isAsked) => {
    const peer = await rawPeer(sampler, { meta: modernMeta(modern, { sampling }) });
    const { result } = await peer.request("tools/call", { name: "ask" });
    const [question] = Object.values(result.inputRequests as Record<string, { params: JsonObject }>);
    expect(question?.params.includeContext !== undefined).toBe(isAsked);
  });
});

test("toolChoice requires the capability sampling.tools", async () => {
  const ask = serverOf((ctx) => ctx.sample({ messages: [], maxTokens: 1, toolChoice: { mode: "none" } }));
  const peer = await rawPeer(ask, { meta: modernMeta(modern, { sampling: {} }) });
  expect((await peer.request("tools/call", { name: "ask" })).error.message).toContain("sampling.tools");
});

test("a handler may destructure its context", async () => {
  const apart = tool({
    call: async (_, { progress, elicit, once, log, signal }) => {
      progress(1);
      log.info("hello");
      const made = await once("made", () => 1);
      const { ok } = await elicit({ message: "?", schema: z.object({ ok: z.boolean() }) });
      return `${made} ${ok} ${signal.aborted}`;
    },
  });
  const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { ask: apart } }));
  await openSession(peer, "2025-11-25", everything);
  expect(textOf(await callAnswering(peer, false, [{ "elicitation/create": accept({ ok: true }) }]))).toBe(
    "1 true false",
  );
});
