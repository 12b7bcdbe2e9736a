import { describe, expect, test } from "vitest";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { type RawPeer, modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { toFetch } from "../http/fetch/to-fetch.ts";
import { createServer } from "./create-server.ts";
import { resource, tool } from "./definition.ts";
import type { AnyServerDefinition } from "./core/options.ts";

const meta = modernMeta("2026-07-28");
const cursor = (position: number | string): string => btoa(`after:${position}`);

function serverWith(definition: Partial<AnyServerDefinition>) {
  return createServer({ name: "x", version: "1", limits: { pageSize: 2 }, ...definition });
}

interface Page {
  names: string[];
  next: string | undefined;
  cacheScope: unknown;
}

async function pageOf(peer: RawPeer, method: string, from?: string): Promise<Page> {
  const { result } = await peer.request(method, from === undefined ? {} : { cursor: from });
  const [member = ""] = method.split("/");
  const listed = result[member] as { name: string }[];
  return {
    names: listed.map(({ name }) => name),
    next: result.nextCursor as string | undefined,
    cacheScope: result.cacheScope,
  };
}

/** Reads a list to its end, and returns the names on each page. */
async function pagesOf(peer: RawPeer, method: string): Promise<string[][]> {
  const pages: string[][] = [];
  let next: string | undefined;
  do {
    const page = await pageOf(peer, method, next);
    pages.push(page.names);
    ({ next } = page);
  } while (next !== undefined);
  return pages;
}

const t = tool({ call: () => "" });
const toolsNamed = (...names: string[]) => Object.fromEntries(names.map((name) => [name, t]));

describe("pages of tools", () => {
  test.each([
    [[], [[]]],
    [["a"], [["a"]]],
    [["a", "b"], [["a", "b"]]],
    [
      ["a", "b", "c"],
      [["a", "b"], ["c"]],
    ],
    [
      ["a", "b", "c", "d"],
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
  ] as const)("%j are listed as %j, and only a page that is followed by another has a cursor", async (names, pages) => {
    const peer = await rawPeer(serverWith({ tools: toolsNamed(...names) }), { meta });
    expect(await pagesOf(peer, "tools/list")).toEqual(pages);
  });

  test("a cursor after the last entry leads to an empty page without a cursor", async () => {
    const peer = await rawPeer(serverWith({ tools: toolsNamed("a", "b", "c") }), { meta });
    expect(await pageOf(peer, "tools/list", cursor(999))).toMatchObject({ names: [], next: undefined });
  });

  test.each([btoa("task:1"), btoa("after:-1"), btoa("after:1x"), btoa("x after:1"), cursor("9".repeat(16)), "after:1"])(
    "the cursor %s of another list is refused",
    async (other) => {
      const peer = await rawPeer(serverWith({ tools: toolsNamed("a") }), { meta });
      const { error } = await peer.request("tools/list", { cursor: other });
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining("List again without a cursor") as string,
      });
    },
  );

  test("a page is made again after a change, also for later pages", async () => {
    const server = serverWith({ tools: toolsNamed("a", "b", "c") });
    const peer = await rawPeer(server, { meta });
    expect(await pagesOf(peer, "tools/list")).toEqual([["a", "b"], ["c"]]);
    server.tools.delete("c");
    expect(await pagesOf(peer, "tools/list")).toEqual([["a", "b"]]);
    server.tools.set("d", t);
    server.tools.set("e", t);
    expect(await pagesOf(peer, "tools/list")).toEqual([
      ["a", "b"],
      ["d", "e"],
    ]);
  });
});

describe("lists of several callers", () => {
  const secret = tool({ scopes: ["admin"], call: () => "" });

  /** Serves tools to callers whose scopes are in a header. Returns the names that one of them sees, and the cache scope. */
  function serve(tools: NonNullable<AnyServerDefinition["tools"]>) {
    const server = serverWith({ tools });
    const auth = (request: { header(name: string): string | undefined }) => {
      const scopes = (request.header("x-scopes") ?? "").split(" ").filter(Boolean);
      return { issuer: "https://issuer.example", subject: "ann", scopes };
    };
    const http = rawHttp("http://localhost/mcp", toFetch(server, { auth }).fetch);
    const listFor = async (scopes: string) => {
      const answer = await http.modern("tools/list", {}, { headers: { "x-scopes": scopes } });
      const { result } = await answer.json();
      return [(result.tools as { name: string }[]).map(({ name }) => name), result.cacheScope];
    };
    return { server, listFor };
  }

  test("each caller sees the tools of its scopes, also after another caller has listed them", async () => {
    const { listFor } = serve({ open: t, secret });
    expect(await listFor("admin")).toEqual([["open", "secret"], "private"]);
    expect(await listFor("")).toEqual([["open"], "private"]);
    expect(await listFor("admin other")).toEqual([["open", "secret"], "private"]);
  });

  test("a list is private as soon as one of its tools needs a scope", async () => {
    const { server, listFor } = serve({ open: t });
    expect(await listFor("")).toEqual([["open"], "public"]);
    server.tools.set("secret", secret);
    expect(await listFor("")).toEqual([["open"], "private"]);
    server.tools.delete("secret");
    expect(await listFor("admin")).toEqual([["open"], "public"]);
  });
});

describe("pages of resources with a template that lists", () => {
  const one = resource("note://one", { read: () => "" });
  const listed = (...ids: string[]) =>
    resource("item://{id}", { list: () => ids.map((id) => `item://${id}`), read: () => "" });

  test("contain its resources, in pages that follow each other to the end", async () => {
    const peer = await rawPeer(serverWith({ resources: { one, items: listed("1", "2", "3") } }), { meta });
    expect(await pagesOf(peer, "resources/list")).toEqual([
      ["one", "item://1"],
      ["item://2", "item://3"],
    ]);
    expect(await pageOf(peer, "resources/list")).toMatchObject({ cacheScope: "private" });
  });

  test.each([0, 1, 2, 3, 4])("have a cursor only if another one follows, with %i resources", async (count) => {
    const ids = Array.from({ length: count }, (_, index) => String(index));
    const peer = await rawPeer(serverWith({ resources: { items: listed(...ids) } }), { meta });
    const pages = await pagesOf(peer, "resources/list");
    expect(pages.flat()).toEqual(ids.map((id) => `item://${id}`));
    expect(pages).toHaveLength(Math.max(1, Math.ceil(count / 2)));
  });

  test("a cursor after the last one leads to an empty page", async () => {
    const peer = await rawPeer(serverWith({ resources: { items: listed("1", "2", "3") } }), { meta });
    expect(await pageOf(peer, "resources/list", cursor(999))).toMatchObject({ names: [], next: undefined });
  });
});

describe("the index of resources", () => {
  const textResource = (uri: string, text: string) => resource(uri, { read: () => text });

  /** Reads a URI. Returns its text, or the code of the error. */
  async function textAt(server: ReturnType<typeof serverWith>, uri: string): Promise<unknown> {
    const peer = await rawPeer(server, { meta });
    const { result, error } = await peer.request("resources/read", { uri });
    return error ? error.code : (result.contents as { text: string }[])[0]?.text;
  }

  test("a resource that is replaced under its name is found by its new URI only", async () => {
    const server = serverWith({ resources: { a: textResource("note://old", "old") } });
    server.resources.set("a", textResource("note://new", "new"));
    expect(await textAt(server, "note://old")).toBe(-32602);
    expect(await textAt(server, "note://new")).toBe("new");
  });

  test("deleting one of two resources with the same URI does not delete the other", async () => {
    const server = serverWith({ resources: { a: textResource("note://x", "a"), b: textResource("note://x", "b") } });
    expect(await textAt(server, "note://x")).toBe("b");
    server.resources.delete("a");
    expect(await textAt(server, "note://x")).toBe("b");
    server.resources.delete("b");
    expect(await textAt(server, "note://x")).toBe(-32602);
  });

  test("a template that is replaced by a resource, or deleted, no longer matches", async () => {
    const server = serverWith({ resources: { a: textResource("note://{id}", "template") } });
    expect(await textAt(server, "note://1")).toBe("template");
    server.resources.set("a", textResource("note://2", "single"));
    expect(await textAt(server, "note://1")).toBe(-32602);
    expect(await textAt(server, "note://2")).toBe("single");
    server.resources.set("a", textResource("note://{id}", "again"));
    server.resources.delete("a");
    expect(await textAt(server, "note://1")).toBe(-32602);
  });

  test("a resource has precedence over a template, and an earlier template over a later one", async () => {
    const server = serverWith({
      resources: {
        first: textResource("note://{id}", "first"),
        second: textResource("note://{name}", "second"),
        single: textResource("note://1", "single"),
      },
    });
    expect(await textAt(server, "note://1")).toBe("single");
    expect(await textAt(server, "note://2")).toBe("first");
    // A replaced template keeps its place.
    server.resources.set("first", textResource("note://{key}", "replaced"));
    expect(await textAt(server, "note://2")).toBe("replaced");
  });
});
