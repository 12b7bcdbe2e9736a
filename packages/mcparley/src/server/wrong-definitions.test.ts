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

describe("a definition with the member of another library is rejected, and the error names ours", () => {
  test.each([
    ["inputSchema", "input"],
    ["parameters", "input"],
    ["params", "input"],
    ["args", "input"],
    ["argsSchema", "input"],
    ["schema", "input"],
    ["outputSchema", "output"],
    ["handler", "call"],
    ["execute", "call"],
    ["callback", "call"],
    ["cb", "call"],
    ["run", "call"],
    ["func", "call"],
    ["readOnlyHint", "annotations"],
    ["_meta", "meta"],
  ])("tool: %s is %s", (theirs, ours) => {
    const definition = { call: () => "a", [theirs]: { type: "object" } } as object;
    const message = refusal(() => createServer({ ...named, tools: { t: tool(definition as never) } }));
    expect(message).toBe(`The tool "t" cannot be offered: use "${ours}" instead of "${theirs}"`);
  });

  test.each([
    ["argsSchema", "arguments"],
    ["args", "arguments"],
    ["load", "get"],
    ["handler", "get"],
    ["execute", "get"],
  ])("prompt: %s is %s", (theirs, ours) => {
    const definition = { get: () => "a", [theirs]: () => "a" } as never;
    const message = refusal(() => createServer({ ...named, prompts: { p: prompt(definition) } }));
    expect(message).toBe(`The prompt "p" cannot be offered: use "${ours}" instead of "${theirs}"`);
  });

  test.each([
    ["load", "read"],
    ["handler", "read"],
    ["uriTemplate", "uri"],
  ])("resource: %s is %s", (theirs, ours) => {
    const definition = { read: () => "a", [theirs]: () => "a" } as never;
    const message = refusal(() => createServer({ ...named, resources: { r: resource("note://1", definition) } }));
    expect(message).toBe(`The resource "r" cannot be offered: use "${ours}" instead of "${theirs}"`);
  });

  test.each([
    ["tool", "tools"],
    ["resourceTemplates", "resources"],
    ["serverInfo", "name and version"],
  ])("server: %s is %s", (theirs, ours) => {
    const message = refusal(() => createServer({ ...named, [theirs]: {} }));
    expect(message).toBe(`The server cannot be offered: use "${ours}" instead of "${theirs}"`);
  });

  test("a name in a tool must be its key", () => {
    const add = tool({ name: "add", call: () => "a" } as never);
    expect(refusal(() => createServer({ ...named, tools: { plus: add } }))).toContain('its name is its key in "tools"');
    expect(createServer({ ...named, tools: { add } }).tools.has("add")).toBe(true);
  });

  test("a list of arguments of a prompt is rejected", () => {
    const listed = prompt({ arguments: [{ name: "a" }] as never, get: () => "a" });
    expect(refusal(() => createServer({ ...named, prompts: { p: listed } }))).toContain("{ name: { required: true } }");
  });

  test("the arguments of the official SDK are rejected with the form to use", () => {
    const called = (tool as (...given: unknown[]) => never)("add", {}, () => "a");
    expect(refusal(() => createServer({ ...named, tools: { add: called } }))).toContain("write tool({ input, call })");
    const read = (resource as (...given: unknown[]) => never)({ uri: "note://1", read: () => "a" });
    expect(refusal(() => createServer({ ...named, resources: { read } }))).toContain("write resource(uri, { read })");
  });
});

describe("a method of a server in another library throws an error that names what to use", () => {
  const server = createServer(named) as unknown as Record<string, () => unknown>;

  test.each(["tool", "registerTool", "addTool", "setRequestHandler"])("%s", (method) => {
    expect(() => server[method]?.()).toThrow(
      `A server has no method "${method}". Pass { tools: { name: tool(...) } } to createServer, or call server.tools.set(name, tool(...)).`,
    );
  });

  test.each(["prompt", "registerPrompt", "resource", "registerResource", "addResource"])("%s", (method) => {
    expect(() => server[method]?.()).toThrow(/^A server has no method ".*"\. Pass \{ (prompts|resources): /);
  });

  test.each(["connect", "start", "listen", "run"])("%s", (method) => {
    expect(() => server[method]?.()).toThrow("Pass the server to serveStdio, listen, toFetch or connect.");
  });

  test("such methods are no properties of the server", () => {
    expect(Object.keys(server)).not.toContain("registerTool");
    expect(() => JSON.stringify({ ...server })).not.toThrow();
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
