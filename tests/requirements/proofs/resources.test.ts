import { expect } from "vitest";
import { type JsonObject, inputRequired, isResourceNotFound, resource, resourceNotFound } from "../library.ts";
import { proves } from "../proves.ts";
import { asUser, serveGranted } from "../world/callers.ts";
import { anotherPeer, clientListens, declaredBy, listenTo, notificationCount } from "../world/changes.ts";
import { type RawMessage, isRequest } from "../../support/raw-message.ts";
import { entriesOf, namesOf, unknownIn } from "../world/lists.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { World } from "../world/world.ts";

const list = "resources/list";
const templates = "resources/templates/list";
const bytes = new Uint8Array([0, 1, 254, 255]);
const base64 = "AAH+/w==";

const about = resource("note://about", { mimeType: "text/plain", read: () => "About these notes." });
const note = resource("note://notes/{id}", {
  list: () => ["note://notes/1", { uri: "note://notes/2", name: "Second" }],
  read: ({ id }, { uri }) => {
    if (id === "9") throw resourceNotFound(uri);
    return `Note ${id}`;
  },
});
const failing = resource("note://failing", {
  read: () => {
    throw new Error("the secret reason");
  },
});

const read = (peer: RawPeer, uri: unknown): Promise<RawMessage> => peer.request("resources/read", { uri });

/** The contents of the one resource that is served. */
async function contentsOf(world: World, given: () => unknown, definition: object = {}): Promise<unknown> {
  const peer = await world.serve({
    resources: { r: resource("note://r", { ...definition, read: given as () => string }) },
  });
  const { result, error } = await read(peer, "note://r");
  expect(error).toBeUndefined();
  return result.contents;
}

proves("resources.capability.declared", async (world) => {
  expect(await declaredBy(world, await world.serve({ resources: { about } }))).toHaveProperty("resources");
});

proves("resources.capability.features", async (world) => {
  const declared = await declaredBy(world, await world.serve({ resources: { about } }));
  expect(declared.resources).toEqual({ listChanged: true, subscribe: true });
});

proves("resources.capability.neither", async (world) => {
  const { client, server } = await world.connect({}, { capabilities: { resources: {} } });
  const listening = client.listen({ resources: true, uris: ["note://about"] }, () => {});
  if (world.isModern) {
    const request = await server.request("subscriptions/listen");
    const _meta = { "io.modelcontextprotocol/subscriptionId": request.id };
    server.notify("notifications/subscriptions/acknowledged", { _meta, notifications: {} }, request);
  }
  expect((await listening).acknowledged).toEqual({});
  expect(server.received.filter(({ method }) => method === "resources/subscribe")).toEqual([]);
});

proves("resources.capability.absent", {
  async server(world) {
    const peer = await world.serve();
    expect(await declaredBy(world, peer)).not.toHaveProperty("resources");
    for (const method of [list, templates]) expect((await peer.request(method)).error.code).toBe(-32601);
    expect((await read(peer, "note://about")).error.code).toBe(-32601);
  },
  async client(world) {
    const { client, server } = await world.connect({}, { capabilities: { tools: {} } });
    await expect(client.listResources().all()).rejects.toMatchObject({ code: "not_capable" });
    await expect(client.listResourceTemplates().all()).rejects.toMatchObject({ code: "not_capable" });
    await expect(client.readResource("note://about")).rejects.toMatchObject({ code: "not_capable" });
    expect(server.received.filter(isRequest).filter(({ method }) => method.startsWith("resources/"))).toEqual([]);
  },
});

proves("resources.list.answered", async (world) => {
  const peer = await world.serve({ resources: { about, failing } });
  expect(await namesOf(peer, list, "uri")).toEqual(["note://about", "note://failing"]);
});

proves("resources.list.empty", async (world) => {
  const peer = await world.serve({ resources: {} });
  expect(await declaredBy(world, peer)).toHaveProperty("resources");
  expect(await namesOf(peer, list)).toEqual([]);
  expect(await namesOf(peer, templates)).toEqual([]);
});

proves("resources.list.changes", async (world) => {
  const peer = await world.serve({ resources: { about } });
  expect(await namesOf(peer, list)).toEqual(["about"]);
  world.server.resources.set("failing", failing);
  world.server.resources.delete("about");
  expect(await namesOf(peer, list)).toEqual(["failing"]);
});

proves("resources.list.not-by-connection", async (world) => {
  const peer = await world.serve({ resources: { about, failing, note } });
  const first = await entriesOf(peer, list);
  for (const uri of ["note://about", "note://failing", "note://none"]) await read(peer, uri);
  expect(await entriesOf(peer, list)).toEqual(first);
  expect(await entriesOf(await anotherPeer(world, { roots: {} }), list)).toEqual(first);
});

const secret = resource("note://secret", { scopes: ["secrets"], read: () => "the secret" });

proves("resources.list.by-authorization", async (world) => {
  const resources = { about, secret };
  expect(await namesOf(await serveGranted(world, { resources }, []), list)).toEqual(["about"]);
  expect(await namesOf(await serveGranted(world, { resources }, ["secrets"]), list)).toEqual(["about", "secret"]);
});

proves("resources.list.members", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  expect(await entriesOf(peer, list)).toMatchObject([
    { uri: "note://about", name: "about" },
    { uri: "note://notes/1", name: "note://notes/1" },
    { uri: "note://notes/2", name: "Second" },
  ]);
});

const described = {
  title: "A note",
  description: "What it is about.",
  mimeType: "text/plain",
  annotations: { audience: ["user" as const], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" },
  icons: [{ src: "https://example.com/a.png" }],
  meta: { "com.example/a": 1 },
};
const one = resource("note://one", { ...described, size: 18, read: () => "" });
const family = resource("note://{id}", { ...described, read: () => "" });

proves("resources.list.details", async (world) => {
  const peer = await world.serve({ resources: { one } });
  const { description, mimeType } = described;
  expect(await entriesOf(peer, list)).toMatchObject([{ description, mimeType, size: 18 }]);
});

proves("resources.list.title", async (world) => {
  const peer = await world.serve({ resources: { one, family } });
  expect(await entriesOf(peer, list)).toMatchObject([{ title: "A note" }]);
  expect(await entriesOf(peer, templates)).toMatchObject([{ title: "A note" }]);
});

proves("resources.list.older-fields", async (world) => {
  const peer = await world.serve({ resources: { one, family } });
  const [[listed = {}], [template = {}]] = [await entriesOf(peer, list), await entriesOf(peer, templates)];
  const shared = ["name", "description", "mimeType", "annotations"];
  expect(unknownIn(listed, "uri", "size", ...shared)).toEqual([]);
  expect(unknownIn(template, "uriTemplate", ...shared)).toEqual([]);
  expect(unknownIn(listed.annotations as JsonObject, "audience", "priority")).toEqual([]);
});

proves("resources.list.client", async (world) => {
  const { client, server } = await world.connect();
  const listing = client.listResources().all();
  const resources = [{ uri: "note://a", name: "a", title: "A", size: 3, "com.example": [1] }];
  server.answer(await server.request(list), { resources });
  expect(await listing).toEqual(resources);
});

proves("resources.list.of-template", async (world) => {
  const peer = await world.serve({ resources: { note } });
  const uris = await namesOf(peer, list, "uri");
  expect(uris).toEqual(["note://notes/1", "note://notes/2"]);
  for (const uri of uris) expect((await read(peer, uri)).result.contents).toMatchObject([{ uri }]);
});

proves("resources.templates.list", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  expect(await entriesOf(peer, templates)).toEqual([{ uriTemplate: "note://notes/{id}", name: "note" }]);
});

proves("resources.templates.rfc6570", async (world) => {
  const resources = Object.fromEntries(
    ["a:{x}", "b:{+path}", "c:{/parts*}", "d:x{?q,lang}", "e:{x}-{y}", "f:{x:3}"].map((uri) => [
      uri,
      resource(uri, { read: (variables) => JSON.stringify(variables) }),
    ]),
  );
  const peer = await world.serve({ resources });
  const variables = async (uri: string): Promise<unknown> => {
    const [{ text = "" } = {}] = (await read(peer, uri)).result.contents as { text?: string }[];
    return JSON.parse(text);
  };
  expect(await variables("a:caf%C3%A9%20%2F")).toEqual({ x: "café /" });
  expect(await variables("b:a/b/c.txt")).toEqual({ path: "a/b/c.txt" });
  expect(await variables("c:/a/b")).toEqual({ parts: ["a", "b"] });
  expect(await variables("d:x?q=1&lang=en")).toEqual({ q: "1", lang: "en" });
  expect(await variables("d:x")).toEqual({});
  expect(await variables("e:1-2")).toEqual({ x: "1", y: "2" });
  expect(await variables("f:abc")).toEqual({ x: "abc" });
});

proves("resources.templates.client", async (world) => {
  const { client, server } = await world.connect();
  const listing = client.listResourceTemplates().all();
  const resourceTemplates = [{ uriTemplate: "note://{id}", name: "a", mimeType: "text/plain", "com.example": [1] }];
  server.answer(await server.request(templates), { resourceTemplates });
  expect(await listing).toEqual(resourceTemplates);
});

proves("resources.read.client", async (world) => {
  const { client, server } = await world.connect();
  const uri = "note://a b/é?x=%41#y";
  const reading = client.readResource(uri);
  const request = await server.request("resources/read");
  expect(request.params.uri).toBe(uri);
  const contents = [
    { uri, mimeType: "text/plain", text: "text" },
    { uri: "note://b", blob: base64, "com.example": 1 },
  ];
  server.answer(request, { contents });
  expect((await reading).contents).toEqual(contents);
});

proves("resources.read.uri", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  for (const uri of ["note://about", "note://notes/1", "note://notes/caf%C3%A9"]) {
    expect((await read(peer, uri)).result.contents).toMatchObject([{ uri }]);
  }
});

proves("resources.read.text", async (world) => {
  const text = 'fn main() {\n    println!("é");\n}';
  expect(await contentsOf(world, () => text, { mimeType: "text/x-rust" })).toEqual([
    { uri: "note://r", mimeType: "text/x-rust", text },
  ]);
  expect(await contentsOf(world, () => text)).toEqual([{ uri: "note://r", text }]);
});

proves("resources.read.binary", async (world) => {
  const blob = [{ uri: "note://r", mimeType: "image/png", blob: base64 }];
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (const byte of bytes) yield new Uint8Array([byte]);
  };
  for (const given of [() => bytes, chunks, () => ({ blob: bytes }), () => ({ blob: base64 })]) {
    expect(await contentsOf(world, given, { mimeType: "image/png" })).toEqual(blob);
  }
  const letters = new TextEncoder().encode("text");
  expect(await contentsOf(world, () => letters)).toEqual([{ uri: "note://r", blob: btoa("text") }]);
});

proves("resources.read.several", async (world) => {
  const files = [
    { uri: "note://r/a", text: "a" },
    { uri: "note://r/b", mimeType: "image/png", blob: bytes },
  ];
  expect(await contentsOf(world, () => files)).toEqual([
    { uri: "note://r/a", text: "a" },
    { uri: "note://r/b", mimeType: "image/png", blob: base64 },
  ]);
});

proves("resources.read.input-required", async (world) => {
  const asking = resource("note://asking", {
    read: (_, { inputResponses }) =>
      "q" in inputResponses ? "done" : inputRequired({ inputRequests: { q: { method: "roots/list" } } }),
  });
  const peer = await world.serve({ resources: { asking } }, { capabilities: { roots: {} } });
  const { result } = await read(peer, "note://asking");
  expect(result).toMatchObject({ resultType: "input_required", inputRequests: { q: { method: "roots/list" } } });
  const answers = { inputResponses: { q: { roots: [] } }, requestState: result.requestState };
  const retried = await peer.request("resources/read", { uri: "note://asking", ...answers });
  expect(retried.result.contents).toEqual([{ uri: "note://asking", text: "done" }]);
});

proves("resources.read.client-retry", async (world) => {
  const { client, server } = await world.connect({ roots: [] });
  const reading = client.readResource("note://a");
  const inputRequests = { q: { method: "roots/list" } };
  const request = await server.request("resources/read");
  server.answer(request, { resultType: "input_required", inputRequests, requestState: "s" });
  const retried = await server.request("resources/read");
  const answers = { inputResponses: { q: { roots: [] } }, requestState: "s" };
  expect(retried.params).toMatchObject({ uri: "note://a", ...answers });
  expect(retried.id).not.toBe(request.id);
  server.answer(retried, { contents: [] });
  expect(await reading).toMatchObject({ contents: [] });
});

async function expectNotFound(world: World, code: number): Promise<void> {
  const peer = await world.serve({ resources: { about, note } });
  for (const uri of ["note://none", "note://About", "note://about/", "note://notes/9"]) {
    expect((await read(peer, uri)).error.code).toBe(code);
  }
}

proves("resources.error.not-found-older", (world) => expectNotFound(world, -32002));

proves("resources.error.not-found", (world) => expectNotFound(world, -32602));

proves("resources.error.names-uri", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  for (const uri of ["note://none", "note://notes/9"]) {
    expect((await read(peer, uri)).error).toMatchObject({ message: "Resource not found", data: { uri } });
  }
});

proves("resources.error.no-empty-contents", async (world) => {
  for (const resources of [{}, { about }, { about, note }]) {
    const peer = await world.serve({ resources });
    for (const uri of ["note://none", "note://notes/9"]) {
      const { result, error } = await read(peer, uri);
      expect(result).toBeUndefined();
      expect(error.code).toBe(-32602);
    }
  }
});

proves("resources.error.client-older", async (world) => {
  const { client, server } = await world.connect();
  const refusals = [
    { code: -32002, message: "Resource not found" },
    { code: -32602, message: "Resource not found", data: { uri: "note://none" } },
    { code: -32602, message: "params.uri must be a string" },
  ];
  const found: boolean[] = [];
  for (const refusal of refusals) {
    const reading = client.readResource("note://none").catch((error: unknown) => error);
    server.refuse(await server.request("resources/read"), refusal);
    found.push(isResourceNotFound(await reading));
  }
  expect(found).toEqual([true, true, false]);
});

proves("resources.error.internal", async (world) => {
  const peer = await world.serve({ resources: { failing } });
  expect((await read(peer, "note://failing")).error).toEqual({ code: -32603, message: "Internal error" });
});

proves("resources.annotations.audience", async (world) => {
  const peer = await world.serve({ resources: { one } });
  const { audience, priority } = described.annotations;
  expect(await entriesOf(peer, list)).toMatchObject([{ annotations: { audience, priority } }]);
});

proves("resources.annotations.last-modified", async (world) => {
  const peer = await world.serve({ resources: { one, family } });
  const { annotations } = described;
  expect(await entriesOf(peer, list)).toMatchObject([{ annotations }]);
  expect(await entriesOf(peer, templates)).toMatchObject([{ annotations }]);
});

proves("resources.annotations.templates", async (world) => {
  const peer = await world.serve({ resources: { family } });
  const { audience, priority } = described.annotations;
  expect(await entriesOf(peer, templates)).toMatchObject([{ annotations: { audience, priority } }]);
});

proves("resources.annotations.client", async (world) => {
  const { client, server } = await world.connect();
  const listing = client.listResources().all();
  const { annotations } = described;
  server.answer(await server.request(list), { resources: [{ uri: "note://a", name: "a", annotations }] });
  expect((await listing)[0]?.annotations).toEqual(annotations);
});

proves("resources.list-changed.sent", async (world) => {
  const peer = await world.serve({ resources: { about } });
  await listenTo(world, peer, { resourcesListChanged: true });
  const notified = (): Promise<number> => notificationCount(peer, "notifications/resources/list_changed");
  world.server.resources.set("note", note);
  expect(await notified()).toBe(1);
  world.server.resources.set("note", about);
  expect(await notified()).toBe(2);
  world.server.resources.delete("about");
  expect(await notified()).toBe(3);
});

proves("resources.list-changed.client", async (world) => {
  const { client, server } = await world.connect();
  let changed!: (kind: string) => void;
  const change = new Promise<string>((resolve) => (changed = resolve));
  const listened = await clientListens(world, { client, server }, { resources: true }, ({ kind }) => changed(kind));
  listened.tell("notifications/resources/list_changed");
  expect(await change).toBe("resources");
});

const updated = "notifications/resources/updated";

proves("resources.subscribe.updated", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  await listenTo(world, peer, { resourceSubscriptions: ["note://about", "note://notes/1"] });
  world.server.resources.updated("note://about");
  expect(await notificationCount(peer, updated)).toBe(1);
  world.server.resources.updated("note://notes/1");
  expect(await notificationCount(peer, updated)).toBe(2);
});

proves("resources.subscribe.names-uri", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  await listenTo(world, peer, { resourceSubscriptions: ["note://notes/1"] });
  world.server.resources.updated("note://notes/1");
  expect((await peer.nextNotification(updated)).params.uri).toBe("note://notes/1");
});

proves("resources.subscribe.only-wanted", async (world) => {
  const peer = await world.serve({ resources: { about, note } });
  const other = await anotherPeer(world);
  await listenTo(world, peer, { resourceSubscriptions: ["note://notes/1"] });
  await listenTo(world, other, { toolsListChanged: true });
  world.server.resources.updated("note://notes/2");
  world.server.resources.updated("note://about");
  expect(await notificationCount(peer, updated)).toBe(0);
  world.server.resources.updated("note://notes/1");
  expect(await notificationCount(peer, updated)).toBe(1);
  expect(await notificationCount(other, updated)).toBe(0);
});

proves("resources.subscribe.end", async (world) => {
  const peer = await world.serve({ resources: { about } });
  await listenTo(world, peer, { resourceSubscriptions: ["note://about"] });
  expect((await peer.request("resources/unsubscribe", { uri: "note://about" })).result).toEqual({});
  world.server.resources.updated("note://about");
  expect(await notificationCount(peer, updated)).toBe(0);
});

const agreed = { answers: { "resources/unsubscribe": () => ({}), "resources/subscribe": () => ({}) } };

proves("resources.subscribe.client", async (world) => {
  const { client, server } = await world.connect({}, agreed);
  let changed!: (change: unknown) => void;
  const change = new Promise((resolve) => (changed = resolve));
  const listened = await clientListens(world, { client, server }, { uris: ["note://a"] }, changed);
  expect(listened.subscription.acknowledged).toEqual({ uris: ["note://a"] });
  // In a session an update may be of a part of the resource, but this URI only starts with the same characters.
  if (!world.isModern) listened.tell(updated, { uri: "note://ab" });
  listened.tell(updated, { uri: "note://a" });
  expect(await change).toEqual({ kind: "updated", uri: "note://a" });
});

proves("resources.subscribe.client-end", async (world) => {
  const { client, server } = await world.connect({}, { answers: { "resources/subscribe": () => ({}) } });
  const { subscription } = await clientListens(world, { client, server }, { uris: ["note://a"] }, () => {});
  void subscription.close();
  const request = await server.request("resources/unsubscribe");
  expect(request.params.uri).toBe("note://a");
  server.answer(request, {});
  await subscription.closed;
});

proves("resources.uri.custom", async (world) => {
  const uris = [
    "urn:isbn:0451450523",
    "note+x://a/b?c=d#e",
    "x-1.2:y",
    "https://example.com",
    "git://h/r.git",
    "tel:+1",
  ];
  const resources = Object.fromEntries(uris.map((uri) => [uri, resource(uri, { read: () => uri })]));
  const peer = await world.serve({ resources });
  expect(await namesOf(peer, list, "uri")).toEqual(uris);
  for (const uri of uris) expect((await read(peer, uri)).result.contents).toEqual([{ uri, text: uri }]);
});

proves("resources.uri.file-types", async (world) => {
  const folder = resource("file:///docs/", { mimeType: "inode/directory", read: () => "a\nb" });
  const peer = await world.serve({ resources: { folder } });
  expect(await namesOf(peer, list, "mimeType")).toEqual(["inode/directory"]);
  expect((await read(peer, "file:///docs/")).result.contents).toMatchObject([{ mimeType: "inode/directory" }]);
});

proves("resources.security.uris", async (world) => {
  const reads: unknown[] = [];
  const spy = resource("note://{id}", { read: (variables) => (reads.push(variables), "") });
  const peer = await world.serve({ resources: { spy } });
  for (const uri of [undefined, null, 7, "", [], "note:", "note://", "note://a/b", "other://a", "note://%zz"]) {
    expect((await read(peer, uri)).error).toBeDefined();
  }
  expect(reads).toEqual([]);
});

proves("resources.security.exact", async (world) => {
  const reads: unknown[] = [];
  const spy = resource("file:///docs/{name}.md", { read: ({ name }) => (reads.push(name), "") });
  const peer = await world.serve({ resources: { spy } });
  const others = ["file:///docs/../secret.md", "file:///docs/a/b.md", "file:///docs/a.md?x", "file:///docs/a.md#x"];
  for (const uri of [...others, "file:///docs/.md/../a.mdx", "file:///Docs/a.md"]) {
    expect((await read(peer, uri)).error).toBeDefined();
  }
  await read(peer, "file:///docs/a.md");
  expect(reads).toEqual(["a"]);
});

proves("resources.security.access", async (world) => {
  const done: string[] = [];
  const vault = resource("vault://{name}", {
    scopes: ["secrets", "vault"],
    list: () => ["vault://listed"],
    read: ({ name }) => (done.push(name), "the content"),
  });
  const resources = { about, secret, vault };
  const needed: [uri: string, scopes: string[]][] = [
    ["note://secret", ["secrets"]],
    ["vault://a", ["secrets", "vault"]],
  ];
  for (const scopes of [[], ["others"], ["Secrets", "vault"]]) {
    const peer = await serveGranted(world, { resources }, scopes);
    for (const [uri, all] of needed) {
      expect((await read(peer, uri)).error).toMatchObject({ code: 403, data: { scopes: all } });
      if (!world.isModern) {
        expect((await peer.request("resources/subscribe", { uri })).error).toMatchObject({ data: { scopes: all } });
      }
    }
    expect(await namesOf(peer, list)).toEqual(["about"]);
    expect(await namesOf(peer, templates)).toEqual([]);
  }
  const some = await serveGranted(world, { resources }, ["secrets"]);
  expect((await read(some, "note://secret")).result.contents).toMatchObject([{ text: "the secret" }]);
  expect((await read(some, "vault://a")).error.code).toBe(403);
  expect(await namesOf(some, list)).toEqual(["about", "secret"]);
  expect(await namesOf(some, templates)).toEqual([]);
  expect(done).toEqual([]);
  const granted = await world.serve({ resources }, { http: asUser("ada", "vault", "secrets") });
  expect((await read(granted, "vault://a")).result.contents).toMatchObject([{ text: "the content" }]);
  expect(await namesOf(granted, list)).toEqual(["about", "secret", "vault://listed"]);
  expect(await namesOf(granted, templates)).toEqual(["vault"]);
});

proves("resources.security.before", async (world) => {
  const done: unknown[] = [];
  const guarded = resource("note://{id}", { scopes: ["secrets"], read: ({ id }) => (done.push(id), "") });
  const peer = await serveGranted(world, { resources: { guarded } }, []);
  expect((await read(peer, "note://1")).error.code).toBe(403);
  expect(done).toEqual([]);
});
