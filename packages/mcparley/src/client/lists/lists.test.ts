import { describe, expect, test } from "vitest";
import { readPromptMessages, readResourceContents } from "../../mcp/read-content.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import type { ConnectOptions, Timeouts } from "../options.ts";
import type { Client } from "../client.ts";
import { type PagedList, listOf } from "./list-pages.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";

type Pages = (cursor: string | undefined, request: number) => JsonObject;

async function paged(
  pages: Pages,
  kind: "stream" | "http" = "stream",
  options: ConnectOptions = {},
): Promise<{ client: Client; errors: Error[]; asked: unknown[] }> {
  const errors: Error[] = [];
  const asked: unknown[] = [];
  const answer = ({ params }: { params?: JsonObject }): JsonObject => {
    asked.push(params?.cursor);
    return pages(params?.cursor as string | undefined, asked.length);
  };
  const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
  const peer = modernPeer({ answers: Object.fromEntries(lists.map((method) => [method, answer])) });
  const dialer = Object.assign(peerTransports(peer), { kind });
  return { errors, asked, client: await openClient(dialer, { onError: (error) => errors.push(error), ...options }) };
}

const inputSchema = { type: "object" };
const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name, inputSchema }));

test("pages are fetched as they are needed", async () => {
  const { client, asked } = await paged((cursor) =>
    cursor === undefined ? { tools: named("a", "b"), nextCursor: "2" } : { tools: named("c") },
  );
  const seen: string[] = [];
  for await (const { name } of client.listTools()) {
    seen.push(name);
    if (name === "b") break;
  }
  expect(asked).toEqual([undefined]);
  expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(asked).toEqual([undefined, undefined, "2"]);
});

test("the empty string is a valid cursor, and null ends the list", async () => {
  const { client, asked } = await paged((cursor) => ({ tools: [], nextCursor: cursor === undefined ? "" : null }));
  await client.listTools().all();
  expect(asked).toEqual([undefined, ""]);
});

test("custom cursors of real servers are followed on every revision", async () => {
  const tools = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`t${index}`, tool({ call: () => "x" })]));
  const server = createServer({ name: "s", version: "1", tools, limits: { pageSize: 10 } });
  for (const revision of ["2026-07-28", "2025-11-25", "2024-11-05"]) {
    const client = await openClient(serverTransports(server), { revision });
    expect((await client.listTools().all()).length).toBe(25);
    await client.close();
  }
});

/** A list of tools whose pages a function returns. It throws the error of the server. */
function listOver(
  page: (cursor: string | undefined) => JsonObject,
  report: (error: Error) => void,
): PagedList<JsonObject> {
  return listOf<JsonObject>(() => ({
    method: "tools/list",
    member: "tools",
    key: "name",
    read: (entry) => entry,
    report,
    forget: () => {},
    fetch: async (cursor) => page(cursor),
  }));
}

describe("a list that does not end", () => {
  /** Expects that a list ended early, and why. */
  const expectIncomplete = (errors: readonly Error[], code: string, reason: string): void => {
    expect(errors).toEqual([expect.objectContaining({ code, message: expect.stringContaining(reason) })]);
    expect(errors[0]).toMatchObject({ data: { incompleteList: expect.any(String) } });
    expect(errors[0]?.message).toContain("is incomplete; the entries that were read are used.");
  };

  test.each(["listTools", "listPrompts", "listResources", "listResourceTemplates"] as const)(
    "%s ends when its pages exceed `maxListBytes`, which the report names",
    async (list) => {
      const page = (request: number): JsonObject => {
        const entry = { name: `é${request}`, uri: "a:b", uriTemplate: "a:{b}", inputSchema, title: "x".repeat(1000) };
        const entries = [entry];
        const members = { tools: entries, prompts: entries, resources: entries, resourceTemplates: entries };
        return { ...members, nextCursor: String(request) };
      };
      const { client, asked, errors } = await paged((_, request) => page(request), "stream", { maxListBytes: 50_000 });
      const all = await client[list]().all();
      expectIncomplete(errors, "too_large", "It is longer than 50000 bytes. Raise the option maxListBytes.");
      // Resources and templates have the same URI on each page, and each is returned once.
      const isNamed = list === "listTools" || list === "listPrompts";
      const pages = Math.floor(50_000 / Buffer.byteLength(JSON.stringify(page(10))));
      expect(all).toHaveLength(isNamed ? pages : 1);
      expect(asked.length).toBe(pages + 1);
    },
  );

  test("ends after 64 MiB by default", async () => {
    const title = "x".repeat(4 * 2 ** 20);
    const { client, asked, errors } = await paged((_, request) => ({
      tools: [{ name: String(request), inputSchema, title }],
      nextCursor: String(request),
    }));
    expect(await client.listTools().all()).toHaveLength(15);
    expectIncomplete(errors, "too_large", "67108864 bytes");
    expect(asked.length).toBe(16);
  });

  test("of one page is limited only by the size of a message", async () => {
    const { client } = await paged(() => ({ tools: named("a", "b") }), "stream", { maxListBytes: 1 });
    expect(await client.listTools().all()).toHaveLength(2);
  });

  test("counts its pages from zero after a restart", async () => {
    let isRefused = false;
    const list = listOf<JsonObject>(() => ({
      method: "tools/list",
      member: "tools",
      key: "name",
      maxBytes: 4_000,
      read: (entry) => entry,
      report: () => {},
      forget: () => {},
      fetch: async (cursor) => {
        const tools = [{ name: `a${cursor ?? ""}`, title: "x".repeat(1000) }];
        if (cursor === undefined) return { tools, nextCursor: "2" };
        if (cursor === "2") return { tools, nextCursor: "3" };
        if (isRefused) return { tools };
        isRefused = true;
        throw new ProtocolError(-32602, "The cursor is unknown.");
      },
    }));
    expect(await list.all()).toHaveLength(3);
  });

  test.each([false, true])("has its first page whatever its size, with further pages: %s", async (isIterated) => {
    const { client, errors, asked } = await paged(() => ({ tools: named("a", "b"), nextCursor: "1" }), "stream", {
      maxListBytes: 1,
    });
    const names: string[] = [];
    if (isIterated) for await (const { name } of client.listTools()) names.push(name);
    else names.push(...(await client.listTools().all()).map(({ name }) => name));
    expect(names).toEqual(["a", "b"]);
    expect(asked).toEqual([undefined]);
    expectIncomplete(errors, "too_large", "1 bytes");
  });

  test("ends after 1,000 pages", async () => {
    const { client, asked, errors } = await paged((_, request) => ({
      tools: named(`t${request}`),
      nextCursor: String(request),
    }));
    expect(await client.listTools().all()).toHaveLength(1000);
    expectIncomplete(errors, "too_large", "It is longer than 1000 pages.");
    expect(asked.length).toBe(1000);
  });

  test("ends after 100,000 entries, and an entry more is left out", async () => {
    for (const extra of [0, 1]) {
      const page = (request: number): JsonObject[] =>
        named(...Array.from({ length: 50_000 + (request === 2 ? extra : 0) }, (_, index) => `${request}-${index}`));
      const { client, errors } = await paged((cursor, request) => ({
        tools: page(request),
        ...(cursor === undefined && { nextCursor: "2" }),
      }));
      expect(await client.listTools().all()).toHaveLength(100_000);
      if (extra === 0) expect(errors).toEqual([]);
      else expectIncomplete(errors, "too_large", "100000 entries");
    }
  });

  const broken: readonly (readonly [why: string, list: (cursor: string | undefined) => JsonObject, code: string])[] = [
    ["the same cursor twice", () => ({ tools: named("a", "b"), nextCursor: "x" }), "invalid_message"],
    [
      "the same cursor twice",
      (cursor) => ({ tools: named("a", "b"), nextCursor: cursor === "x" ? "y" : "x" }),
      "invalid_message",
    ],
    ["is not a string", () => ({ tools: named("a", "b"), nextCursor: 5 }), "invalid_message"],
    [
      'must contain an array "tools"',
      (cursor) => (cursor === undefined ? { tools: named("a", "b"), nextCursor: "x" } : {}),
      "invalid_message",
    ],
    [
      "The server refuses its own cursor",
      (cursor) => {
        if (cursor !== undefined) throw new ProtocolError(-32602, "no such cursor");
        return { tools: named("a", "b"), nextCursor: "x" };
      },
      "invalid_message",
    ],
  ];
  test.each(broken)("has the entries that were read, once each: %s", async (why, list, code) => {
    const errors: Error[] = [];
    const reading = listOver(list, (error) => errors.push(error));
    expect((await reading.all()).map(({ name }) => name)).toEqual(["a", "b"]);
    expectIncomplete(errors, code, why);
    errors.length = 0;
    const names: unknown[] = [];
    for await (const { name } of reading) names.push(name);
    expect(names).toEqual(["a", "b"]);
    expectIncomplete(errors, code, why);
  });

  test("does not prove that a tool is missing, and is not read again for each call", async () => {
    const { client, asked } = await paged(() => ({ tools: named("a"), nextCursor: "x" }), "http");
    for (let call = 0; call < 2; call++) {
      const caller = new AbortController();
      const calling = client.callTool("b", {}, { signal: caller.signal });
      calling.catch(() => {});
      await flushPromises();
      caller.abort();
      await expect(calling).rejects.toMatchObject({ code: "aborted" });
    }
    expect(asked).toHaveLength(2);
  });

  test("is rejected for a failure that may be over at the next attempt", async () => {
    const errors: Error[] = [];
    const failing = (cursor: string | undefined): JsonObject => {
      if (cursor !== undefined) throw new ProtocolError(-32603, "The database is locked.");
      return { tools: named("a"), nextCursor: "x" };
    };
    const reading = listOver(failing, (error) => errors.push(error)).all();
    await expect(reading).rejects.toThrow("The database is locked.");
    expect(errors).toEqual([]);
  });

  test.each([
    [{ tools: {} }, 'must contain an array "tools"'],
    [{}, 'must contain an array "tools"'],
  ])("is rejected if its first page is invalid: %j", async (page, why) => {
    const { client } = await paged(() => page);
    await expect(client.listTools().all()).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining(why),
    });
  });
});

describe("the time of a list", () => {
  /** Reads a list whose pages take some time each, and which does not end. */
  async function slowList(timeout: Timeouts, pageMs: number) {
    const clock = fakeClock();
    const peer = legacyPeer();
    const errors: Error[] = [];
    const onError = (error: Error): void => void errors.push(error);
    const client = await openClient(peerTransports(peer), { revision: "2025-11-25", clock, onError });
    const reading = client.listTools({ timeout }).all();
    const outcome = reading.then(
      (tools) => tools.map(({ name }) => name),
      (error: Error) => error,
    );
    await peer.notification("notifications/initialized");
    for (let page = 0; page < 4; page++) {
      const request = await peer.request("tools/list");
      await clock.advance(pageMs);
      peer.answer(request, { tools: named(`t${page}`), nextCursor: String(page) });
      await flushPromises();
      if (peer.arrived.some(({ message }) => "method" in message && message.method === "notifications/cancelled"))
        break;
    }
    return { outcome: await outcome, errors };
  }

  test("is limited by timeout.total over all pages", async () => {
    const { outcome, errors } = await slowList({ total: 1_000 }, 300);
    expect(outcome).toEqual(["t0", "t1", "t2"]);
    expect(errors).toMatchObject([{ code: "timeout", message: expect.stringContaining("within 1000 ms in total") }]);
  });

  test("is limited by timeout.idle for each page", async () => {
    expect((await slowList({ idle: 200 }, 300)).outcome).toMatchObject({ code: "timeout" });
  });

  test("does not contain the time in which the caller uses the entries", async () => {
    const clock = fakeClock();
    const next: Record<string, string | undefined> = { first: "1", 1: "2" };
    const answer = ({ params }: { params?: JsonObject }): JsonObject => {
      const cursor = typeof params?.cursor === "string" ? params.cursor : "first";
      return { tools: named(cursor), nextCursor: next[cursor] };
    };
    const peer = legacyPeer({ answers: { "tools/list": answer } });
    const client = await openClient(peerTransports(peer), { revision: "2025-11-25", clock });
    const names: string[] = [];
    for await (const { name } of client.listTools({ timeout: { total: 1_000 } })) {
      names.push(name);
      await clock.advance(60_000);
    }
    expect(names).toEqual(["first", "1", "2"]);
  });
});

describe("a malformed entry", () => {
  test.each([
    [
      "listTools",
      "tools",
      { name: "a", inputSchema },
      [null, 1, [], {}, { name: "b" }, { name: 5, inputSchema }, { name: "c", inputSchema: "x" }],
    ],
    ["listPrompts", "prompts", { name: "a" }, ["x", { title: "b" }]],
    ["listResources", "resources", { uri: "a:b", name: "a" }, [{ uri: "a:c" }, { name: "d" }]],
    ["listResourceTemplates", "resourceTemplates", { uriTemplate: "a:{b}", name: "a" }, [{ uri: "a:c", name: "x" }]],
  ] as const)(
    "in %s is omitted and reported, and the other entries are returned",
    async (method, member, good, bad) => {
      const { client, errors } = await paged(() => ({ [member]: [...bad, { ...good, unknown: { kept: true } }] }));
      expect(await client[method]().all()).toEqual([{ ...good, unknown: { kept: true } }]);
      expect(errors.length).toBe(bad.length);
      expect(errors.at(-1)?.message).toMatch(/^The entry .* of [a-z/]+ was left out: /);
    },
  );

  test("content of unknown types is passed on unchanged", async () => {
    const content = [
      { type: "hologram", data: 1 },
      { type: "text", text: "x", extra: true },
    ];
    const peer = modernPeer({
      answers: {
        "tools/call": () => ({ content }),
        "prompts/get": () => ({ messages: [{ role: "narrator", content: content[0] }] }),
        "resources/read": () => ({ contents: [{ uri: "a:b", hologram: 1 }] }),
      },
    });
    const client = await openClient(peerTransports(peer));
    expect(await client.callTool("a")).toEqual(content);
    expect((await client.getPrompt("a")).messages).toEqual([{ role: "narrator", content: content[0] }]);
    expect((await client.readResource("a:b")).contents).toEqual([{ uri: "a:b", hologram: 1 }]);
  });

  test("a text or an object in place of a list is its only entry", async () => {
    const message = { role: "user", content: { type: "text", text: "a" } };
    const contents = { uri: "a:b", text: "a" };
    for (const [sent, listed] of [
      ["a", ["a"]],
      [{ ...message, ...contents }, [{ ...message, ...contents }]],
    ]) {
      const peer = modernPeer({
        answers: { "prompts/get": () => ({ messages: sent }), "resources/read": () => ({ contents: sent }) },
      });
      const client = await openClient(peerTransports(peer));
      const { messages } = await client.getPrompt("a");
      expect(messages).toEqual(listed);
      expect(readPromptMessages(messages)).toEqual([message]);
      const read = await client.readResource("a:b");
      expect(read.contents).toEqual(listed);
      expect(readResourceContents(read.contents)).toMatchObject([{ text: "a" }]);
    }
  });

  test("a result without its required members is invalid, and the error names them", async () => {
    const peer = modernPeer({
      answers: {
        "prompts/get": () => ({}),
        "resources/read": () => ({ contents: null }),
        "completion/complete": () => ({ completion: {} }),
      },
    });
    const client = await openClient(peerTransports(peer));
    await expect(client.getPrompt("a")).rejects.toThrow('must contain an array "messages"');
    await expect(client.readResource("a:b")).rejects.toThrow('must contain an array "contents"');
    await expect(client.complete({ type: "ref/prompt", name: "a" }, { name: "a", value: "" })).rejects.toThrow(
      'an array "values"',
    );
  });
});

describe("x-mcp-header", () => {
  const tools = [
    { name: "good", inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": "A" } } } },
    { name: "bad", inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } } },
  ];

  test("tools with invalid annotations are omitted over HTTP and reported by name", async () => {
    const { client, errors } = await paged(() => ({ tools }), "http");
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["good"]);
    expect(errors[0]?.message).toContain(
      '"bad" of tools/list was left out: The x-mcp-header of "a" is only allowed on',
    );
  });

  test("entries that need code to be loaded keep their place among the others", async () => {
    const icons = [{ src: "https://example.com/a.png" }];
    const marked = { type: "object", properties: { a: { type: "string", "x-mcp-header": "A" } } };
    const { client } = await paged(
      () => ({
        tools: [
          ...named("a"),
          { name: "b", inputSchema, icons },
          { name: "c", inputSchema: marked },
          ...named("d"),
          { name: "e", inputSchema: marked, icons },
        ],
      }),
      "http",
    );
    const tools = await client.listTools().all();
    expect(tools.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("tools with invalid annotations are listed on other transports", async () => {
    const { client, errors } = await paged(() => ({ tools }));
    expect((await client.listTools().all()).length).toBe(2);
    expect(errors).toEqual([]);
  });
});

describe("the cache", () => {
  test("returns cached pages while they are fresh, as copies", async () => {
    const { client, asked } = await paged(() => ({ tools: named("a"), ttlMs: 60_000 }));
    for (const first of await client.listTools().all()) first.name = "changed";
    expect((await client.listTools().all())[0]?.name).toBe("a");
    expect(asked.length).toBe(1);
  });

  test("is read again from the start if the cursor of a cached page is no longer valid", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const kept = { prompts: [{ name: "old" }], nextCursor: "2", ttlMs: 60_000 };
    const first = client.listPrompts().all();
    peer.answer(await peer.request("prompts/list"), kept);
    peer.answer(await peer.request("prompts/list"), { prompts: [] });
    expect(await first).toEqual([{ name: "old" }]);
    const second = client.listPrompts().all();
    const stale = await peer.request("prompts/list");
    expect(stale.params?.cursor).toBe("2");
    peer.refuse(stale, { code: -32602, message: "Invalid cursor" });
    const restarted = await peer.request("prompts/list");
    expect(restarted.params).not.toHaveProperty("cursor");
    peer.answer(restarted, { prompts: [{ name: "new" }] });
    expect(await second).toEqual([{ name: "new" }]);
  });

  test("is not used for pages after a cursor that the server refuses, and each entry is returned once", async () => {
    const peer = modernPeer();
    const errors: Error[] = [];
    const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error) });
    const list = client.listPrompts().all();
    const prompts = (...names: string[]): JsonObject => ({ prompts: names.map((name) => ({ name })), ttlMs: 60_000 });
    peer.answer(await peer.request("prompts/list"), { ...prompts("a", "b"), nextCursor: "2" });
    peer.answer(await peer.request("prompts/list"), { prompts: [] });
    await list;
    const names: string[] = [];
    const iterating = (async () => {
      for await (const { name } of client.listPrompts()) names.push(name);
    })();
    peer.refuse(await peer.request("prompts/list"), { code: -32602, message: "Invalid cursor" });
    const again = await peer.request("prompts/list");
    expect(again.params).not.toHaveProperty("cursor");
    peer.answer(again, { ...prompts("b", "c"), nextCursor: "3" });
    const second = await peer.request("prompts/list");
    expect(second.params?.cursor).toBe("3");
    peer.refuse(second, { code: -32602, message: "Invalid cursor again" });
    await iterating;
    expect(errors).toMatchObject([{ message: expect.stringContaining("Invalid cursor again") }]);
    expect(names).toEqual(["a", "b", "c"]);
    void client
      .listPrompts()
      .all()
      .catch(() => {});
    await peer.request("prompts/list");
    await client.close();
  });
});

describe("members of a wrong type", () => {
  const members = [
    "title",
    "description",
    "mimeType",
    "size",
    "annotations",
    "outputSchema",
    "_meta",
    "icons",
    "arguments",
  ];
  const entryWith = (value: unknown): JsonObject => ({
    name: "a",
    uri: "a:b",
    uriTemplate: "a:{b}",
    inputSchema,
    ...Object.fromEntries(members.map((member) => [member, value])),
  });
  const lists = ["listTools", "listPrompts", "listResources", "listResourceTemplates"] as const;
  const pageOf = (...entries: JsonObject[]): JsonObject => ({
    tools: entries,
    prompts: entries,
    resources: entries,
    resourceTemplates: entries,
  });

  test.each(lists)("that are null are left out of an entry of %s without a report", async (list) => {
    const { client, errors } = await paged(() => pageOf(entryWith(null)));
    expect(await client[list]().all()).toEqual([{ name: "a", uri: "a:b", uriTemplate: "a:{b}", inputSchema }]);
    expect(errors).toEqual([]);
  });

  test.each(lists)("are left out of an entry of %s with a report, and the entries stay", async (list) => {
    const { client, errors } = await paged(() => pageOf(entryWith(true), { ...entryWith(undefined), title: "kept" }));
    const [first, second] = await client[list]().all();
    expect(first).toEqual({ name: "a", uri: "a:b", uriTemplate: "a:{b}", inputSchema });
    expect(second).toMatchObject({ name: "a", title: "kept" });
    expect(errors.map(({ message }) => message)).toEqual(
      members.map((member) => expect.stringContaining(`A member "${member}" of `)),
    );
  });

  test("are left out of annotations and of the arguments of prompts", async () => {
    const broken = { title: 5, readOnlyHint: "yes", destructiveHint: true };
    const args = [{ name: "a", description: 5, required: true }, { name: 5 }, null, { name: "b" }];
    const { client } = await paged(() => pageOf({ ...entryWith(undefined), annotations: broken, arguments: args }));
    const [prompt] = await client.listPrompts().all();
    expect(prompt).toMatchObject({ annotations: { destructiveHint: true } });
    expect(prompt?.arguments).toEqual([{ name: "a", required: true }, { name: "b" }]);
    const [listed] = await client.listTools().all();
    expect(listed?.annotations).toEqual({ destructiveHint: true });
  });
});
