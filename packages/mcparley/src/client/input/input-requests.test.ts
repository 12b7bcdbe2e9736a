import { describe, expect, test } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../rpc/messages.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { Client } from "../client.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";
import type { InputRequestSource, ConnectOptions } from "../options.ts";

const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] });
const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const form = { message: "who?", requestedSchema: schema };
const elicitation = (params: JsonObject): JsonObject => ({ method: "elicitation/create", params });
const asks = (inputRequests: JsonObject, requestState?: unknown): JsonObject => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});

type Connected = { peer: ReturnType<typeof modernPeer>; client: Client; errors: Error[] };

async function modern(options: ConnectOptions = {}): Promise<Connected> {
  const errors: Error[] = [];
  const peer = modernPeer();
  return {
    peer,
    errors,
    client: await openClient(peerTransports(peer), { onError: (error) => errors.push(error), ...options }),
  };
}

async function legacy(options: ConnectOptions = {}): Promise<Connected> {
  const errors: Error[] = [];
  const peer = legacyPeer();
  const given = { revision: "2025-11-25", onError: (error: Error) => errors.push(error), ...options };
  const client = await openClient(peerTransports(peer), given);
  await peer.notification("notifications/initialized");
  return { peer, client, errors };
}

describe.each(["2026-07-28", "2025-11-25"])("with a real server (%s)", (revision) => {
  const properties = { name: { type: "string" }, size: { type: "integer", default: 3 } };
  const server = createServer({
    name: "s",
    version: "1",
    tools: {
      form: tool({
        call: async (_, ctx) =>
          JSON.stringify(await ctx.elicit({ message: "who?", schema: { type: "object", properties } })),
      }),
      url: tool({
        call: async (_, ctx) => {
          await ctx.elicit({ message: "go", url: "https://example.com/x" });
          return "gone";
        },
      }),
      sample: tool({
        call: async (_, ctx) => {
          const { content } = await ctx.sample({
            messages: [{ role: "user", content: { type: "text", text: "hi" } }],
            maxTokens: 5,
          });
          return JSON.stringify(content);
        },
      }),
      roots: tool({ call: async (_, ctx) => JSON.stringify(await ctx.roots()) }),
      two: tool({
        call: async (_, ctx) => {
          const ask = (key: string): Promise<JsonObject> =>
            ctx.elicit({ message: key, key, schema: { type: "object", properties } });
          const both = await Promise.all([ask("one"), ask("two")]);
          return both.map(({ name }) => name).join();
        },
      }),
    },
  });

  test("one handler answers every kind of input request", async () => {
    const sources: InputRequestSource[] = [];
    const client = await openClient(serverTransports(server), {
      revision,
      elicit: (question, source) => {
        sources.push(source);
        return question.mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ann" } };
      },
      sample: () => ({ role: "assistant", content: { type: "text", text: "hello" }, model: "m" }),
      roots: () => [{ uri: "file:///a", name: "a" }],
    });
    expect(JSON.parse((await client.callTool("form")) as string)).toEqual({ name: "Ann", size: 3 });
    expect(await client.callTool("url")).toBe("gone");
    expect(await client.callTool("sample")).toBe('{"type":"text","text":"hello"}');
    expect(await client.callTool("roots")).toBe('[{"uri":"file:///a","name":"a"}]');
    expect(sources[0]).toMatchObject({ target: "memory:s", server: { name: "s" }, during: 'tools/call "form"' });
    await client.close();
  });

  test("forms that were requested together are shown one after another", async () => {
    let shown = 0;
    let most = 0;
    const client = await openClient(serverTransports(server), {
      revision,
      elicit: async ({ message }) => {
        most = Math.max(most, ++shown);
        await flushPromises();
        shown--;
        return { action: "accept", content: { name: message } };
      },
    });
    expect(await Promise.all([client.callTool("two"), client.callTool("two")])).toEqual(["one,two", "one,two"]);
    expect(most).toBe(1);
    await client.close();
  });

  test("Declined and Cancelled are sent as results, not as errors", async () => {
    for (const [thrown, said] of [
      [new Declined(), "declined"],
      [new Cancelled(), "dismissed"],
    ] as const) {
      const client = await openClient(serverTransports(server), {
        revision,
        elicit: () => {
          throw thrown;
        },
      });
      await expect(client.callTool("form")).rejects.toThrow(said);
      await client.close();
    }
  });
});

describe("on a modern revision", () => {
  test("a retry contains the responses and the state of its own round, and a new id", async () => {
    const { peer, client } = await modern({
      elicit: ({ message }) => ({ action: "accept", content: { name: message } }),
    });
    const calling = client.callTool("a", { x: 1 });
    const first = await peer.request("tools/call");
    expect(first.params).not.toHaveProperty("inputResponses");
    const state = '{"opaque": "\\u00e9 \n"}';
    peer.answer(first, asks({ one: elicitation({ ...form, message: "1" }) }, state));
    const second = await peer.request("tools/call");
    expect(second.id).not.toBe(first.id);
    expect(second.params).toMatchObject({ name: "a", arguments: { x: 1 }, requestState: state });
    expect(second.params?.inputResponses).toEqual({ one: { action: "accept", content: { name: "1" } } });
    peer.answer(second, asks({ two: elicitation({ ...form, message: "2" }) }));
    const third = await peer.request("tools/call");
    expect(third.params?.inputResponses).toEqual({ two: { action: "accept", content: { name: "2" } } });
    expect(third.params).not.toHaveProperty("requestState");
    peer.answer(third, text("done"));
    expect(await calling).toBe("done");
  });

  test("concurrent calls contain neither the state nor the responses of another call", async () => {
    const { peer, client } = await modern({ roots: [{ uri: "file:///a" }] });
    const [one, two] = [client.callTool("a"), client.callTool("b")];
    const [first, second] = [await peer.request("tools/call"), await peer.request("tools/call")];
    peer.answer(first, asks({ r: { method: "roots/list" } }, "state of a"));
    const retry = await peer.request("tools/call");
    const three = client.getPrompt("c");
    const third = await peer.request("prompts/get");
    expect(third.params).not.toHaveProperty("requestState");
    expect(third.params).not.toHaveProperty("inputResponses");
    peer.answer(second, asks({ r: { method: "roots/list" } }));
    expect((await peer.request("tools/call")).params).not.toHaveProperty("requestState");
    expect(retry.params).toMatchObject({ name: "a", requestState: "state of a" });
    for (const call of [one, two, three]) call.catch(() => {});
    await client.close();
  });

  test("a state without input requests is sent back, the first time immediately", async () => {
    const clock = fakeClock();
    const { peer, client } = await modern({ clock });
    const calling = client.callTool("a");
    peer.answer(await peer.request("tools/call"), { resultType: "input_required", requestState: "s" });
    const second = await peer.request("tools/call");
    expect(second.params).toMatchObject({ requestState: "s" });
    expect(second.params).not.toHaveProperty("inputResponses");
    peer.answer(second, { resultType: "input_required", requestState: "s" });
    await flushPromises();
    expect(peer.arrived.length).toBe(3);
    await clock.advance(100);
    peer.answer(await peer.request("tools/call"), text("x"));
    expect(await calling).toBe("x");
  });

  test("a server that requests input without end is stopped after 32 rounds", async () => {
    const { peer, client } = await modern({ roots: [] });
    const calling = client.callTool("a");
    calling.catch(() => {});
    for (let round = 0; round < 32; round++) {
      peer.answer(await peer.request("tools/call"), asks({ r: { method: "roots/list" } }));
    }
    await expect(calling).rejects.toThrow('The server requested input for tools/call "a" more than 32 times.');
    expect(peer.arrived.length).toBe(33);
  });

  test.each([
    ["a method without input requests", "resources/list", asks({}, "s"), "has the unexpected resultType"],
    [
      "an empty result",
      "tools/call",
      { resultType: "input_required" },
      "it has neither inputRequests nor a requestState",
    ],
    ["a state that is not a string", "tools/call", asks({}, 5), "its requestState is not a string"],
    [
      "input requests that are not an object",
      "tools/call",
      { resultType: "input_required", inputRequests: [] },
      "its inputRequests are not an object",
    ],
    [
      "a result with 101 input requests",
      "tools/call",
      asks(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`r${index}`, { method: "roots/list" }]))),
      "it has more than 100 input requests",
    ],
    ["an input request without a method", "tools/call", asks({ a: {} }), "an input request has no method"],
    ["an input request with an unknown method", "tools/call", asks({ a: { method: "a/b" } }), "Method not found"],
    [
      "an input request without its capability",
      "tools/call",
      asks({ a: { method: "sampling/createMessage" } }),
      "its capability was not declared",
    ],
  ])("%s fails the call", async (_, method, result, why) => {
    const { peer, client } = await modern({ roots: [] });
    const calling = client.request(method, { name: "a" });
    calling.catch(() => {});
    peer.answer(await peer.request(method), result);
    await expect(calling).rejects.toMatchObject({ code: "invalid_message", message: expect.stringContaining(why) });
    expect(client.inFlight).toBe(0);
  });

  test("a result with 100 input requests is answered", async () => {
    const { peer, client } = await modern({ roots: [] });
    client.callTool("a").catch(() => {});
    const requests = Array.from({ length: 100 }, (_, index) => [`r${index}`, { method: "roots/list" }] as const);
    peer.answer(await peer.request("tools/call"), asks(Object.fromEntries(requests)));
    const { params } = await peer.request("tools/call");
    expect(Object.keys(params?.inputResponses as object)).toHaveLength(100);
  });

  test("a declined sampling request fails the call locally, because no result can express it", async () => {
    const { peer, client } = await modern({
      sample: () => {
        throw new Declined();
      },
    });
    const calling = client.callTool("a");
    calling.catch(() => {});
    const sampling = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
    peer.answer(await peer.request("tools/call"), asks({ s: sampling }));
    await expect(calling).rejects.toBeInstanceOf(Declined);
    expect(peer.arrived.length).toBe(2);
  });

  test("cancelling the call aborts the input request", async () => {
    let source!: InputRequestSource;
    const { peer, client } = await modern({
      elicit: (_, who) => {
        source = who;
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const calling = client.callTool("a", {}, { signal: controller.signal });
    calling.catch(() => {});
    peer.answer(await peer.request("tools/call"), asks({ q: elicitation(form) }));
    await flushPromises();
    controller.abort();
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    expect(source.signal.aborted).toBe(true);
    // The input request without a response does not block the next one.
    const next = client.callTool("a");
    next.catch(() => {});
    peer.answer(await peer.request("tools/call"), asks({ q: elicitation(form) }));
    await flushPromises();
    expect(source.signal.aborted).toBe(false);
    await client.close();
    await expect(next).rejects.toMatchObject({ code: "closed" });
  });

  test("one failed input request aborts the others of its round", async () => {
    const signals: AbortSignal[] = [];
    const { peer, client } = await modern({
      elicit: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
      roots: () => {
        throw new Error("disk");
      },
    });
    const calling = client.callTool("a");
    calling.catch(() => {});
    peer.answer(await peer.request("tools/call"), asks({ q: elicitation(form), r: { method: "roots/list" } }));
    await expect(calling).rejects.toThrow("disk");
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  test("a server-initiated request is reported and not answered", async () => {
    const { peer, errors } = await modern({ roots: [] });
    peer.ask(1, "roots/list");
    await flushPromises();
    expect(peer.arrived.length).toBe(1);
    expect(errors[0]?.message).toContain("roots/list, which its revision does not allow");
  });
});

test.each([
  [[], undefined],
  [["url" as const], { url: {} }],
])("a handler with the modes %j declares the capability %j", async (elicitModes, declared) => {
  const { peer, client } = await modern({ elicit: () => expect.fail("asked"), elicitModes });
  client.callTool("a").catch(() => {});
  const { params } = await peer.request("tools/call");
  const meta = params?._meta as Record<string, JsonObject>;
  expect(meta["io.modelcontextprotocol/clientCapabilities"]?.elicitation).toEqual(declared);
});

test.each(["https://example.com/", "file:///home/../etc"])("the root %s is not sent to the server", async (uri) => {
  const { peer } = await legacy({ roots: [{ uri: "file:///home" }, { uri }] });
  peer.ask("q", "roots/list");
  expect(await peer.next()).toMatchObject({ id: "q", error: { code: -32603, message: "Internal error" } });
});

describe("on a legacy session", () => {
  const reply = async ({ peer }: Connected, method: string, params?: JsonObject): Promise<JsonObject> => {
    peer.ask("q", method, params);
    const message = await peer.next();
    expect(message).toMatchObject({ id: "q" });
    return message as unknown as JsonObject;
  };

  test("ping is answered", async () => {
    expect(await reply(await legacy(), "ping")).toEqual({ jsonrpc: "2.0", id: "q", result: {} });
  });

  test.each(["elicitation/create", "sampling/createMessage", "roots/list", "tasks/get", "constructor"])(
    '%s is answered with "method not found" if its capability was not declared',
    async (method) => {
      expect(await reply(await legacy(), method, form)).toMatchObject({ error: { code: -32601 } });
    },
  );

  test("a declined sampling request is answered with the error -1", async () => {
    const connected = await legacy({
      sample: () => {
        throw new Declined();
      },
    });
    expect(await reply(connected, "sampling/createMessage", { messages: [], maxTokens: 1 })).toMatchObject({
      error: { code: -1, message: "User rejected sampling request" },
    });
    expect(connected.errors).toEqual([]);
  });

  test("errors of a handler are not sent to the server", async () => {
    const connected = await legacy({
      sample: () => {
        throw new Error("key sk-123 is invalid");
      },
    });
    const answer = await reply(connected, "sampling/createMessage", { messages: [], maxTokens: 1 });
    expect(answer).toMatchObject({ error: { code: -32603, message: "Internal error" } });
    expect(connected.errors[0]?.message).toBe("key sk-123 is invalid");
  });

  const use = { role: "assistant", content: { type: "tool_use", id: "1", name: "t", input: {} } };
  test.each([
    ["messages that are not an array", "sampling/createMessage", { messages: "x" }],
    ["a tool use without its result", "sampling/createMessage", { messages: [use], maxTokens: 1 }],
    ["invalid messages", "sampling/createMessage", { messages: [null], maxTokens: 1 }],
    ["tools that were not declared", "sampling/createMessage", { messages: [], maxTokens: 1, tools: [] }],
    [
      "a choice of tools that were not declared",
      "sampling/createMessage",
      { messages: [], maxTokens: 1, toolChoice: {} },
    ],
    [
      "a message without a role",
      "sampling/createMessage",
      { messages: [{ role: "system", content: {} }], maxTokens: 1 },
    ],
    ["a form without a message", "elicitation/create", { requestedSchema: schema }],
    ["a form without a schema", "elicitation/create", { message: "a" }],
    [
      "a form whose schema cannot be used",
      "elicitation/create",
      { message: "a", requestedSchema: { type: "object", properties: { a: { $ref: "https://x.example/" } } } },
    ],
    ["an unknown mode", "elicitation/create", { ...form, mode: "voice" }],
    [
      "a mode that was not declared",
      "elicitation/create",
      { mode: "url", message: "a", url: "https://example.com", elicitationId: "1" },
    ],
  ])("%s is refused with -32602 before the handler is called", async (_, method, params) => {
    const connected = await legacy({
      sample: () => expect.fail("asked"),
      elicit: () => expect.fail("asked"),
      elicitModes: ["form"],
    });
    expect(await reply(connected, method, params)).toMatchObject({ error: { code: -32602 } });
  });

  test("a result that does not match the form is not sent", async () => {
    const connected = await legacy({ elicit: () => ({ action: "accept", content: { name: 5 } }) });
    expect(await reply(connected, "elicitation/create", form)).toMatchObject({ error: { code: -32603 } });
    expect(connected.errors[0]).toMatchObject({ code: "invalid_result", message: expect.stringContaining("/name: ") });
  });

  test("undefined members of a result are left out, and have no default", async () => {
    const text = { type: "string", default: "x" };
    const properties = { a: text, b: { type: "string" }, c: text };
    const given = { message: "?", requestedSchema: { type: "object", properties } };
    const connected = await legacy({ elicit: () => ({ action: "accept", content: { a: undefined, b: undefined } }) });
    expect((await reply(connected, "elicitation/create", given)).result).toEqual({
      action: "accept",
      content: { c: "x" },
    });
  });

  test("defaults are added, and a declined result has no content", async () => {
    const properties = {
      a: { type: "string", default: "x" },
      b: { type: "boolean", default: false },
      c: { type: "number" },
    };
    const given = { message: "?", requestedSchema: { type: "object", properties, required: ["a", "b"] } };
    let action: "accept" | "decline" = "accept";
    const connected = await legacy({ elicit: () => ({ action, content: { c: 1 } }) });
    expect(await reply(connected, "elicitation/create", given)).toMatchObject({
      result: { action: "accept", content: { a: "x", b: false, c: 1 } },
    });
    action = "decline";
    expect((await reply(connected, "elicitation/create", given)).result).toEqual({ action: "decline" });
  });

  test("an input request that the server cancels is not answered", async () => {
    let signal!: AbortSignal;
    const { peer, errors } = await legacy({
      elicit: (_, source) => {
        ({ signal } = source);
        return new Promise(() => {});
      },
    });
    peer.ask(7, "elicitation/create", form);
    await flushPromises();
    peer.notify("notifications/cancelled", { requestId: 7 });
    await flushPromises();
    expect(signal.aborted).toBe(true);
    expect(peer.arrived.length).toBe(2);
    expect(errors).toEqual([]);
  });
});

test("an input request that is cancelled while another is shown is never shown", async () => {
  const shown: string[] = [];
  let answer!: (result: { action: "decline" }) => void;
  const { peer } = await legacy({
    elicit: ({ message }) => {
      shown.push(message);
      return new Promise((resolve) => (answer = resolve));
    },
  });
  for (const id of [1, 2, 3]) peer.ask(id, "elicitation/create", { ...form, message: String(id) });
  await flushPromises();
  peer.notify("notifications/cancelled", { requestId: 2 });
  answer({ action: "decline" });
  await flushPromises();
  expect(shown).toEqual(["1", "3"]);
});

test("input requests of a flood are refused from the 101st on", async () => {
  const { peer, client } = await legacy({ elicit: () => new Promise(() => {}) });
  for (let id = 0; id < 100; id++) peer.ask(id, "elicitation/create", form);
  await flushPromises();
  expect(peer.arrived.length).toBe(2);
  peer.ask(100, "elicitation/create", form);
  expect(await peer.next()).toMatchObject({ id: 100, error: { code: -32600 } });
  await client.close();
});

describe("URLs", () => {
  const urlRequest = (url: unknown): JsonObject => ({ mode: "url", message: "go", url, elicitationId: "1" });

  test.each(["https://example.com/a?b", "http://localhost:3000/", "http://127.0.0.1/x", "http://[::1]:8/"])(
    "%s is shown",
    async (url) => {
      const seen: unknown[] = [];
      const { peer } = await legacy({
        elicit: (question) => {
          seen.push(question);
          return { action: "accept", content: { stray: "x" } };
        },
      });
      peer.ask(1, "elicitation/create", urlRequest(url));
      expect(await peer.next()).toMatchObject({ result: { action: "accept" } });
      expect(seen).toEqual([urlRequest(url)]);
    },
  );

  test.each([
    "http://example.com/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "http://app.localhost/",
    "https://example.com@evil.example/",
    "/relative",
    "",
    5,
  ])("%s is refused before the handler is called", async (url) => {
    const elicit = (): never => expect.fail("asked");
    const one = await legacy({ elicit });
    one.peer.ask(1, "elicitation/create", urlRequest(url));
    expect(await one.peer.next()).toMatchObject({ error: { code: -32602 } });
    const two = await modern({ elicit });
    const calling = two.client.callTool("a");
    calling.catch(() => {});
    two.peer.answer(await two.peer.request("tools/call"), asks({ q: elicitation(urlRequest(url)) }));
    await expect(calling).rejects.toMatchObject({ code: "invalid_message" });
  });
});

describe("a call that fails with -32042 until URLs are visited", () => {
  const visit = (id: string): JsonObject => ({
    mode: "url",
    message: "go",
    url: `https://example.com/${id}`,
    elicitationId: id,
  });
  const urlsRequired = (...ids: string[]): { code: number; message: string; data: JsonObject } => ({
    code: -32042,
    message: "This request requires more information.",
    data: { elicitations: ids.map(visit) },
  });

  async function call(
    connected: Connected,
    timeout = {},
  ): Promise<{ calling: Promise<unknown>; request: JsonRpcRequest }> {
    const calling = connected.client.callTool("a", {}, { timeout });
    calling.catch(() => {});
    return { calling, request: await connected.peer.request("tools/call") };
  }

  test("is repeated once all visits are complete", async () => {
    const shown: string[] = [];
    const connected = await legacy({
      elicit: (question) => {
        shown.push(question.message + (question.mode === "url" ? question.url : ""));
        return { action: "accept" };
      },
    });
    const { peer } = connected;
    const { calling, request } = await call(connected);
    peer.refuse(request, urlsRequired("one", "two"));
    peer.notify("notifications/elicitation/complete", { elicitationId: "two" });
    await flushPromises();
    expect(shown).toEqual(["gohttps://example.com/one", "gohttps://example.com/two"]);
    peer.notify("notifications/elicitation/complete", { elicitationId: "three" });
    await flushPromises();
    expect(peer.arrived.length).toBe(3);
    peer.notify("notifications/elicitation/complete", { elicitationId: "one" });
    const again = await peer.request("tools/call");
    peer.refuse(again, urlsRequired("one"));
    await expect(calling).rejects.toMatchObject({ code: -32042 });
    expect(shown.length).toBe(2);
  });

  test("waits no longer than its total limit", async () => {
    const clock = fakeClock();
    const connected = await legacy({ clock, elicit: () => ({ action: "accept" }) });
    const { calling, request } = await call(connected, { total: 5000 });
    connected.peer.refuse(request, urlsRequired("one"));
    await clock.advance(5000);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
    expect(clock.pending).toBe(0);
  });

  test("is not repeated if the user declines", async () => {
    const connected = await legacy({ elicit: () => ({ action: "decline" }) });
    const { calling, request } = await call(connected);
    connected.peer.refuse(request, urlsRequired("one"));
    await expect(calling).rejects.toBeInstanceOf(Declined);
    expect(connected.peer.arrived.length).toBe(3);
  });

  test("rejects with the error if the client has no URL elicitation", async () => {
    for (const options of [{}, { elicit: () => expect.fail("asked"), elicitModes: ["form"] as const }]) {
      const connected = await legacy(options);
      const { calling, request } = await call(connected);
      connected.peer.refuse(request, urlsRequired("one"));
      await expect(calling).rejects.toMatchObject({ code: -32042 });
    }
  });

  test("rejects with the error if its data is malformed", async () => {
    const connected = await legacy({ elicit: () => expect.fail("asked") });
    const { calling, request } = await call(connected);
    connected.peer.refuse(request, { code: -32042, message: "x", data: { elicitations: [{ mode: "form" }] } });
    await expect(calling).rejects.toMatchObject({ code: -32042, message: "x" });
  });
});

describe("confirm", () => {
  test("receives the call and can reject it before it is sent", async () => {
    const seen: unknown[] = [];
    const { peer, client } = await modern({
      confirm: (call, source) => {
        seen.push(call, source.during);
        return false;
      },
    });
    await expect(client.callTool("a", { b: 1 })).rejects.toThrow('tools/call "a" was not confirmed.');
    await expect(client.request("tools/call", { name: "c" })).rejects.toBeInstanceOf(Declined);
    expect(seen.slice(0, 2)).toEqual([{ tool: undefined, name: "a", arguments: { b: 1 } }, 'tools/call "a"']);
    expect(peer.arrived.length).toBe(1);
  });

  test("receives the tool if it was listed; only true allows the call", async () => {
    const tools: unknown[] = [];
    const peer = modernPeer({
      answers: { "tools/list": () => ({ tools: [{ name: "a", inputSchema: { type: "object" } }] }) },
    });
    const client = await openClient(peerTransports(peer), {
      confirm: ({ tool: listed }) => {
        tools.push(listed?.name);
        return "yes" as never;
      },
    });
    await client.listTools().all();
    await expect(client.callTool("a")).rejects.toBeInstanceOf(LocalError);
    expect(tools).toEqual(["a"]);
  });
});
