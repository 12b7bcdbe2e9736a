import { describe, expect, expectTypeOf, test, vi } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { embed, user, assistant } from "./content.ts";
import { prompt, resource } from "../definition.ts";
import { createServer } from "../create-server.ts";

const modern = "2026-07-28";
const meta = modernMeta(modern);

const serve = (definition: object, options?: { meta?: JsonObject }): Promise<RawPeer> =>
  rawPeer(createServer({ name: "x", version: "1", ...definition }), { meta, ...options });

describe("prompts", () => {
  const review = prompt({
    title: "Review",
    description: "Reviews code.",
    arguments: {
      code: { description: "The code", required: true },
      language: { complete: ["python", "perl", "rust"] },
    },
    get: ({ code, language }) => {
      expectTypeOf(code).toEqualTypeOf<string>();
      expectTypeOf(language).toEqualTypeOf<string | undefined>();
      return [user(`Review this ${language ?? ""} code`), assistant("Show me."), embed("file:///x", code)];
    },
  });

  test("are listed with their arguments", async () => {
    const { result } = await (await serve({ prompts: { review } })).request("prompts/list");
    expect(result.prompts).toEqual([
      {
        name: "review",
        title: "Review",
        description: "Reviews code.",
        arguments: [{ name: "code", description: "The code", required: true }, { name: "language" }],
      },
    ]);
  });

  test("are returned as messages", async () => {
    const { result } = await (
      await serve({ prompts: { review } })
    ).request("prompts/get", { name: "review", arguments: { code: "x", language: "C" } });
    expect(result).toMatchObject({
      description: "Reviews code.",
      messages: [
        { role: "user", content: { type: "text", text: "Review this C code" } },
        { role: "assistant", content: { type: "text", text: "Show me." } },
        { role: "user", content: { type: "resource", resource: { uri: "file:///x", text: "x" } } },
      ],
    });
  });

  test.each([
    [{ name: "nope" }, "nope"],
    [{ name: "review" }, "code"],
    [{ name: "review", arguments: { code: 5 } }, "code"],
    [{}, "name"],
  ])("rejects the params %j and names %s", async (params, named) => {
    const { error } = await (await serve({ prompts: { review } })).request("prompts/get", params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(named) as string });
  });

  test("complete from a list, from a function with the other arguments, and without suggestions", async () => {
    const lookup = prompt({
      arguments: {
        a: { complete: ["Alpha", "beta"] },
        b: { complete: (typed, others) => [`${typed}-${others.a}`] },
        c: {},
      },
      get: () => "x",
    });
    const peer = await serve({ prompts: { lookup } });
    const complete = async (name: string, value: string, more: JsonObject = {}) =>
      (
        await peer.request("completion/complete", {
          ref: { type: "ref/prompt", name: "lookup" },
          argument: { name, value },
          ...more,
        })
      ).result?.completion;
    expect(await complete("a", "AL")).toEqual({ values: ["Alpha"], total: 1, hasMore: false });
    expect(await complete("b", "x", { context: { arguments: { a: "1" } } })).toEqual({
      values: ["x-1"],
      total: 1,
      hasMore: false,
    });
    expect(await complete("c", "")).toEqual({ values: [], total: 0, hasMore: false });
    expect(
      (
        await peer.request("completion/complete", {
          ref: { type: "ref/prompt", name: "lookup" },
          argument: { name: "d", value: "" },
        })
      ).error.message,
    ).toContain('"d"');
  });

  test("at most 100 completions are sent, with their total number", async () => {
    const many = Array.from({ length: 250 }, (_, index) => `v${index}`);
    const peer = await serve({
      prompts: { p: prompt({ arguments: { a: { complete: () => many } }, get: () => "x" }) },
    });
    const { result } = await peer.request("completion/complete", {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "a", value: "" },
    });
    expect(result.completion).toMatchObject({ total: 250, hasMore: true });
    expect((result.completion as { values: string[] }).values).toHaveLength(100);
  });

  test("a server without suggestions has no completion method", async () => {
    const peer = await serve({ prompts: { p: prompt({ get: () => "x" }) } });
    const { error } = await peer.request("completion/complete", {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "a", value: "" },
    });
    expect(error.code).toBe(-32601);
  });
});

describe("resources", () => {
  test("text, bytes, streams and several contents are read", async () => {
    async function* chunks() {
      yield new Uint8Array([1]);
      yield new Uint8Array([2, 3, 4, 5]);
    }
    const resources = {
      text: resource("r://text", { mimeType: "text/plain", read: () => "hello" }),
      bytes: resource("r://bytes", { read: () => new Uint8Array([1, 2, 3]) }),
      stream: resource("r://stream", { read: () => chunks() }),
      several: resource("r://several", {
        read: () => [
          { uri: "r://a", text: "a" },
          { uri: "r://b", blob: new Uint8Array([9]), mimeType: "x/y" },
        ],
      }),
      cached: resource("r://cached", { cache: { ttlMs: 5000, cacheScope: "public" }, read: () => "c" }),
    };
    const peer = await serve({ resources });
    const read = async (uri: string) => (await peer.request("resources/read", { uri })).result;
    expect((await read("r://text")).contents).toEqual([{ uri: "r://text", mimeType: "text/plain", text: "hello" }]);
    expect((await read("r://bytes")).contents).toEqual([{ uri: "r://bytes", blob: "AQID" }]);
    expect((await read("r://stream")).contents).toEqual([{ uri: "r://stream", blob: "AQIDBAU=" }]);
    expect((await read("r://several")).contents).toEqual([
      { uri: "r://a", text: "a" },
      { uri: "r://b", blob: "CQ==", mimeType: "x/y" },
    ]);
    expect(await read("r://cached")).toMatchObject({ ttlMs: 5000, cacheScope: "public" });
    expect(await read("r://text")).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  });

  test("URIs are compared without normalisation", async () => {
    const odd = ["https://example.com", "file:///a b.txt", "X://Case", "x://é"];
    const resources = Object.fromEntries(odd.map((uri) => [uri, resource(uri, { read: () => uri })]));
    const peer = await serve({ resources });
    for (const uri of odd)
      expect((await peer.request("resources/read", { uri })).result.contents).toEqual([{ uri, text: uri }]);
    expect((await peer.request("resources/read", { uri: "x://case" })).error).toBeDefined();
  });

  test("of two resources with one URI, the later one is listed and read, and the earlier one again after its deletion", async () => {
    const first = resource("note://1", { read: () => "first" });
    const second = resource("note://1", { read: () => "second" });
    const server = createServer({ name: "x", version: "1", resources: { first, second } });
    const peer = await rawPeer(server, { meta });
    const read = (): Promise<unknown> => peer.request("resources/read", { uri: "note://1" });
    const list = (): Promise<unknown> => peer.request("resources/list");
    expect(await read()).toMatchObject({ result: { contents: [{ text: "second" }] } });
    expect(await list()).toMatchObject({ result: { resources: [{ name: "second" }] } });
    server.resources.delete("second");
    expect(await read()).toMatchObject({ result: { contents: [{ text: "first" }] } });
    expect(await list()).toMatchObject({ result: { resources: [{ name: "first" }] } });
    server.resources.set("second", second);
    server.resources.delete("first");
    expect(await read()).toMatchObject({ result: { contents: [{ text: "second" }] } });
    server.resources.delete("second");
    expect(await read()).toMatchObject({ error: { code: -32602 } });
  });

  test("templates are listed separately, match URIs, and list their resources with a function", async () => {
    const note = resource("note://{id}{?lang}", {
      title: "Note",
      description: "A note.",
      mimeType: "text/plain",
      list: () => ["note://1", { uri: "note://2", name: "two", size: 3 }],
      complete: { id: ["1", "2", "12"] },
      read: ({ id, lang }) => {
        expectTypeOf(id).toEqualTypeOf<string>();
        expectTypeOf(lang).toEqualTypeOf<string | undefined>();
        return `${id} ${lang ?? "-"}`;
      },
    });
    const peer = await serve({ resources: { fixed: resource("note://fixed", { read: () => "fixed" }), note } });
    expect((await peer.request("resources/templates/list")).result.resourceTemplates).toEqual([
      {
        name: "note",
        title: "Note",
        uriTemplate: "note://{id}{?lang}",
        description: "A note.",
        mimeType: "text/plain",
      },
    ]);
    expect((await peer.request("resources/list")).result.resources).toEqual([
      { name: "fixed", uri: "note://fixed" },
      { name: "note://1", uri: "note://1", description: "A note.", mimeType: "text/plain" },
      { name: "two", uri: "note://2", size: 3, description: "A note.", mimeType: "text/plain" },
    ]);
    expect((await peer.request("resources/read", { uri: "note://a%20b?lang=de" })).result.contents).toMatchObject([
      { text: "a b de" },
    ]);
    expect((await peer.request("resources/read", { uri: "note://fixed" })).result.contents).toMatchObject([
      { text: "fixed" },
    ]);
    const ref = { type: "ref/resource", uri: "note://{id}{?lang}" };
    expect(
      (await peer.request("completion/complete", { ref, argument: { name: "id", value: "1" } })).result.completion,
    ).toMatchObject({ values: ["1", "12"] });
  });

  test("an entry of a list without an absolute URI is left out and reported, and the others stay", async () => {
    const onError = vi.fn();
    const list = () => ["note://1", "note://\ud83d", "2", {}, null, { uri: 5 }, { uri: "note://3" }] as string[];
    const note = resource("note://{id}", { list, read: () => "" });
    const peer = await serve({ resources: { note }, onError });
    const { resources } = (await peer.request("resources/list")).result as { resources: { uri: string }[] };
    expect(resources.map(({ uri }) => uri)).toEqual(["note://1", "note://3"]);
    expect(onError.mock.calls.map(([error]) => (error as Error).message)).toEqual(
      ['"note://\\ud83d"', '"2"', "undefined", "undefined", "5"].map(
        (uri) => `"list" of the resource "note" returned the invalid URI ${uri}.`,
      ),
    );
  });

  test("a template with a list, which is listed again, is announced once to each client, also through a mount", async () => {
    const names = ["1"];
    const note = resource("note://{id}", { list: () => names.map((id) => `note://${id}`), read: () => "" });
    const notes = createServer({ name: "notes", version: "1", resources: { note } });
    const host = createServer({ name: "host", version: "1" }).mount("all", notes);
    const peer = await rawPeer(host);
    await openSession(peer, "2025-11-25");
    names.push("2");
    notes.resources.listChanged();
    await peer.nextNotification("notifications/resources/list_changed");
    expect((await peer.request("resources/list")).result.resources).toHaveLength(2);
    const announced = peer.received.filter((message) => "method" in message && message.method.endsWith("list_changed"));
    expect(announced).toHaveLength(1);
  });

  test("the suggestions of a template name its variables", () => {
    const note = resource("note://{id}", { complete: { title: ["a"] } as never, read: () => "" });
    expect(() => createServer({ name: "notes", version: "1", resources: { note } })).toThrow(
      '"complete" names "title", which is no variable of note://{id}',
    );
  });

  test("a template of the request that no resource has is refused, also if its text matches a template", async () => {
    const note = resource("note://{id}", { complete: { id: ["1"] }, read: () => "" });
    const peer = await serve({ resources: { note } });
    const ref = { type: "ref/resource", uri: "note://{name}" };
    const answer = await peer.request("completion/complete", { ref, argument: { name: "id", value: "" } });
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining("note://{name}") });
  });

  test("subscribers receive updates of their resources only", async () => {
    const server = createServer({ name: "x", version: "1", resources: { a: resource("r://a", { read: () => "a" }) } });
    const legacy = await rawPeer(server);
    await openSession(legacy, "2025-06-18");
    expect((await legacy.request("resources/subscribe", { uri: "r://a" })).result).toEqual({});
    server.resources.updated("r://b");
    server.resources.updated("r://a");
    expect(await legacy.nextNotification("notifications/resources/updated")).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "r://a" },
    });
    await legacy.request("resources/unsubscribe", { uri: "r://a" });
    server.resources.updated("r://a");
    await legacy.settled();
    expect(legacy.received.filter((message) => "method" in message)).toHaveLength(1);
  });
});

test.each([
  ["2024-11-05", "none"],
  ["2025-03-26", "none"],
  ["2025-06-18", "Berlin"],
  ["2025-11-25", "Berlin"],
])("on %s a completion function receives the other arguments only if the revision has them", async (version, city) => {
  const complete = (_typed: string, others: Record<string, string>): string[] => [others.city ?? "none"];
  const trip = prompt({ arguments: { city: {}, street: { complete } }, get: () => "" });
  const peer = await rawPeer(createServer({ name: "x", version: "1", prompts: { trip } }));
  await openSession(peer, version);
  const { result } = await peer.request("completion/complete", {
    ref: { type: "ref/prompt", name: "trip" },
    argument: { name: "street", value: "" },
    context: { arguments: { city: "Berlin" } },
  });
  expect(result).toMatchObject({ completion: { values: [city] } });
});
