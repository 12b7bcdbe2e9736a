import { describe, expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import { createServer } from "./create-server.ts";
import { prompt, resource, tool } from "./definition.ts";
import type { ServerExtension } from "./extension.ts";

const named = { name: "x", version: "1" };
const pass = async (_: unknown, next: () => Promise<object>): Promise<object> => next();
const hello = tool({ call: () => "hello" });

/** Returns the message of the `invalid_definition` that a definition throws. */
function refusal(define: () => unknown): string {
  try {
    define();
  } catch (error) {
    if (error instanceof LocalError && error.code === "invalid_definition") return error.message;
    throw error;
  }
  throw new Error("The definition was accepted.");
}

describe("an array of definitions is rejected, and the error shows a record", () => {
  test.each([
    ["tools", [hello]],
    ["prompts", [prompt({ get: () => "a" })]],
    ["resources", [resource("note://1", { read: () => "a" })]],
    ["tools", []],
  ])("%s", (kind, given) => {
    const message = refusal(() => createServer({ ...named, [kind]: given }));
    expect(message).toContain(`${kind} must be a record by name`);
    expect(message).toContain(`{ ${kind}: { first, second } }`);
  });
});

describe("the name of a tool", () => {
  test.each(["my tool!", "a/b", "a,b", "größe", "a\n", "a".repeat(129)])("%j is refused", (name) => {
    expect(refusal(() => createServer({ ...named, tools: { [name]: hello } }))).toContain("1 to 128 letters");
  });

  test.each(["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", "a".repeat(128)])("%j is accepted", (name) => {
    expect(createServer({ ...named, tools: { [name]: hello } }).tools.has(name)).toBe(true);
  });

  test("is checked when a tool is added to a live server", () => {
    const server = createServer(named);
    expect(refusal(() => server.tools.set("my tool!", hello))).toContain('tool "my tool!"');
    expect(server.tools.size).toBe(0);
  });
});

describe("a tool with the member of another library", () => {
  test.each([
    ["inputSchema", "input"],
    ["parameters", "input"],
    ["outputSchema", "output"],
    ["handler", "call"],
    ["execute", "call"],
  ])("%s is rejected, and the error names %s", (theirs, ours) => {
    const definition = { call: () => "a", [theirs]: { type: "object" } } as object;
    const message = refusal(() => createServer({ ...named, tools: { t: tool(definition as never) } }));
    expect(message).toContain(`use "${ours}" instead of "${theirs}"`);
  });
});

describe("the URI of a resource", () => {
  test.each(["not a uri", "/etc/passwd", "1a://b", "note"])("%j is refused", (uri) => {
    const define = () => createServer({ ...named, resources: { r: resource(uri, { read: () => "a" }) } });
    expect(refusal(define)).toContain(`its URI ${JSON.stringify(uri)} is not absolute; write one such as note://1`);
  });

  test.each(["note://1", "urn:isbn:1", "{+base}/file", "a+b-c.d:e"])("%j is accepted", (uri) => {
    const server = createServer({ ...named, resources: { r: resource(uri, { read: () => "a" }) } });
    expect(server.resources.size).toBe(1);
  });
});

describe("middleware by method", () => {
  test.each(["tool/call", "initialize", "com.example/thing"])(
    "is rejected for %s, because it would never run",
    (name) => {
      expect(refusal(() => createServer(named).use({ [name]: pass }))).toContain(JSON.stringify(name));
    },
  );

  test("is accepted for each method of the protocol and of an extension", () => {
    const extension: ServerExtension = { id: "com.example/x", methods: { "x/do": { answer: () => ({}) } } };
    const server = createServer({ ...named, extensions: [extension] });
    expect(() =>
      server.use({ "tools/list": pass, "logging/setLevel": pass, ping: pass, "server/discover": pass, "x/do": pass }),
    ).not.toThrow();
  });
});
