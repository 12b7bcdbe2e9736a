import { connect } from "mcparley/client";
import { type UriVariables, createServer, image, resource, text, tool, toolResult } from "mcparley/server";
import { describe, expect, test } from "vitest";

/** Reads a URI of a template. The compiler checks that `values` has the declared type, and the test that the handler receives it. */
async function arrives<const U extends string>(template: U, uri: string, values: UriVariables<U>): Promise<void> {
  let seen: unknown;
  const read = (variables: UriVariables<U>): string => {
    seen = { ...(variables as object) };
    return "a";
  };
  const server = createServer({ name: "x", version: "1", resources: { r: resource(template, { read }) } });
  const client = await connect(server);
  await client.readResource(uri);
  await client.close();
  expect(seen).toEqual(values);
}

describe("the variables of a URI template have their declared types", () => {
  test("text", () => arrives("note://{id}", "note://1", { id: "1" }));
  test("reserved text", () => arrives("note://{+path}", "note://a/b", { path: "a/b" }));
  test("a prefix", () => arrives("note://{id:3}", "note://abc", { id: "abc" }));
  test("an exploded list", () => arrives("note://{list*}", "note://a,b", { list: ["a", "b"] }));
  test("a list with one item", () => arrives("note://{list*}", "note://a", { list: ["a"] }));
  test("a missing later variable", () => arrives("note://{a,b}", "note://1", { a: "1" }));
  test("a later variable", () => arrives("note://{a,b}", "note://1,2", { a: "1", b: "2" }));
  test("a missing path", () => arrives("note://a{/p}", "note://a", {}));
  test("path segments", () => arrives("note://a{/seg*}", "note://a/b/c", { seg: ["b", "c"] }));
  test("missing path segments", () => arrives("note://a{/seg*}", "note://a", {}));
  test("a path parameter", () => arrives("note://a{;p}", "note://a;p=1", { p: "1" }));
  test("a missing path parameter", () => arrives("note://a{;p}", "note://a", {}));
  test("a missing label", () => arrives("note://a{.e}", "note://a", {}));
  test("a missing fragment", () => arrives("note://a{#f}", "note://a", {}));
  test("a query", () => arrives("note://a{?q*,r}", "note://a?q=1&q=2&r=3", { q: ["1", "2"], r: "3" }));
  test("a query with one item", () => arrives("note://a{?q*}", "note://a?q=1", { q: ["1"] }));
  test("a missing query", () => arrives("note://a{?q*,r}", "note://a", {}));
});

describe("the value of a call has its declared type", () => {
  const server = createServer({
    name: "x",
    version: "1",
    tools: {
      text: tool({ call: () => "text" }),
      number: tool({ call: async () => 5 }),
      boolean: tool({ call: () => true }),
      block: tool({ call: () => text("block") }),
      nothing: tool({ call: () => {} }),
      picture: tool({ call: () => image("AAAA", "image/png") }),
      texts: tool({ call: () => ["a", text("b")] }),
      mixed: tool({ call: () => ["a", image("AAAA", "image/png")] }),
      inline: tool({ call: () => [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
      structured: tool({ output: { type: "array", items: { type: "string" } }, call: () => ["a"] }),
      object: tool({
        input: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        call: ({ a }) => ({ n: a.length }),
      }),
      whole: tool({ call: () => toolResult({ content: [], structuredContent: { a: 1 } }) }),
    },
  });

  test("from a tool without an output schema", async () => {
    const { tools } = await connect(server);
    const texts: string[] = [await tools.text(), await tools.number(), await tools.boolean(), await tools.block()];
    expect(texts).toEqual(["text", "5", "true", "block"]);
    const blocks: object[] = [...(await tools.nothing()), ...(await tools.picture())];
    expect(blocks).toEqual([{ type: "image", data: "AAAA", mimeType: "image/png" }]);
    const either: (string | object[])[] = [await tools.texts(), await tools.mixed(), await tools.inline()];
    expect(either.map((value) => typeof value)).toEqual(["string", "object", "object"]);
    const whole: unknown = await tools.whole();
    expect(whole).toEqual({ a: 1 });
  });

  test("from a tool with an output schema, also by callTool", async () => {
    const client = await connect(server);
    const list: string[] = await client.tools.structured();
    expect(list).toEqual(["a"]);
    const { n }: { n: number } = await client.callTool("object", { a: "abc" });
    expect(n).toBe(3);
    // @ts-expect-error -- the argument is text
    await expect(client.callTool("object", { a: 5 })).rejects.toThrow("must be string");
  });
});
