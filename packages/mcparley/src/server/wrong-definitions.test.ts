import { describe, expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import { createServer } from "./create-server.ts";
import { prompt, resource, tool } from "./definition.ts";
import { asTask, tasks } from "../extensions/tasks/server/tasks.ts";
import type { ServerExtension } from "./core/extension.ts";
import { rateLimit } from "./observe/rate-limit.ts";

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

describe("a Map or another value in place of a record is rejected", () => {
  test.each(["tools", "prompts", "resources"])("%s", (kind) => {
    for (const given of [new Map([["hello", hello]]), new Set([hello]), "hello", null]) {
      const message = refusal(() => createServer({ ...named, [kind]: given }));
      expect(message).toMatch(new RegExp(`${kind} must be a record by name`));
    }
  });

  test.each([
    ["meta of a tool", { tools: { t: tool({ meta: new Map() as never, call: () => "a" }) } }, '"meta"'],
    ["annotations", { tools: { t: tool({ annotations: new Map() as never, call: () => "a" }) } }, '"annotations"'],
    ["input", { tools: { t: tool({ input: new Map() as never, call: () => "a" }) } }, "not an object"],
    ["output", { tools: { t: tool({ output: new Map() as never, call: () => "a" }) } }, "not an object"],
    ["arguments", { prompts: { p: prompt({ arguments: new Map() as never, get: () => "a" }) } }, '"arguments"'],
    [
      "complete, a function",
      { resources: { r: resource("a:{b}", { complete: (() => []) as never, read: () => "a" }) } },
      '"complete"',
    ],
    [
      "complete, a Map",
      { resources: { r: resource("a:{b}", { complete: new Map() as never, read: () => "a" }) } },
      '"complete"',
    ],
    ["limits", { limits: new Map() as never }, '"limits"'],
    ["experimental", { experimental: [] as never }, '"experimental"'],
  ])("%s", (_name, definition, part) => {
    expect(refusal(() => createServer({ ...named, ...definition }))).toContain(part);
  });

  test("middleware that is no function", () => {
    const server = createServer(named);
    for (const given of [5, "a", new Map(), [pass], { "tools/call": 5 }, { "tools/call": undefined }]) {
      expect(refusal(() => server.use(given as never))).toContain("Middleware must be a function");
    }
    expect(server.use({ "tools/call": pass })).toBe(server);
  });
});

describe("a member of a wrong type is rejected, and the error names it and its type", () => {
  const ofTool = (members: object) => ({ tools: { t: tool({ call: () => "a", ...members }) } });
  const ofPrompt = (members: object) => ({ prompts: { p: prompt({ get: () => "a", ...members }) } });
  const ofResource = (members: object) => ({
    resources: { r: resource("a:b", { read: () => "a", ...members }) },
  });
  const ofArgument = (members: object) => ofPrompt({ arguments: { a: members } });

  test.each([
    [ofTool({ title: 5 }), '"title" must be a string'],
    [ofTool({ description: { text: "a" } }), '"description" must be a string'],
    [ofTool({ annotations: { readOnlyHint: "yes" } }), '"annotations.readOnlyHint" must be a boolean'],
    [ofTool({ annotations: { destructiveHint: 1 } }), '"annotations.destructiveHint" must be a boolean'],
    [ofTool({ annotations: { title: null } }), '"annotations.title" must be a string'],
    [ofTool({ icons: [{ src: "https://a.example/b", mimeType: 5 }] }), '"icons[0].mimeType" must be a string'],
    [ofTool({ icons: [{ src: "https://a.example/b", sizes: [48] }] }), '"icons[0].sizes" must be a list'],
    [ofPrompt({ title: 5 }), '"title" must be a string'],
    [ofArgument({ required: "yes" }), '"arguments.a.required" must be a boolean'],
    [ofArgument({ description: 5 }), '"arguments.a.description" must be a string'],
    [ofResource({ mimeType: 5 }), '"mimeType" must be a string'],
    [ofResource({ size: "5" }), '"size" must be a number'],
    [{ instructions: {} }, '"instructions" must be a string'],
    [{ websiteUrl: 5 }, '"websiteUrl" must be a string'],
    [{ context: {} }, '"context" must be a function'],
    [{ onError: true }, '"onError" must be a function'],
    [{ onWarning: "a" }, '"onWarning" must be a function'],
    [{ capabilities: { listChanged: "no" } }, '"capabilities.listChanged" must be a boolean'],
  ])("%#: %j", (definition, message) => {
    expect(refusal(() => createServer({ ...named, ...(definition as object) }))).toContain(message);
  });

  test("undefined is a member that is left out", () => {
    const server = createServer({
      ...named,
      ...ofTool({ title: undefined, annotations: { readOnlyHint: undefined } }),
    });
    expect(server.tools.has("t")).toBe(true);
  });
});

describe("an unknown option is rejected", () => {
  test.each([
    ["asTask", () => asTask({ required: true } as never), '"asTask" has the unknown member "required"'],
    ["asTask, a text", () => asTask("required" as never), '"asTask" must be an object'],
    ["asTask, a wrong type", () => asTask({ runAgain: "yes" as never }), '"asTask.runAgain" must be a boolean'],
    ["tasks", () => tasks({ pollInterval: 5 } as never), 'did you mean "pollIntervalMs"?'],
    ["tasks, a text", () => tasks("a" as never), '"tasks" must be an object'],
    ["rateLimit", () => rateLimit({ perSeconds: 5 } as never), 'did you mean "perSecond"?'],
    ["rateLimit, a wrong type", () => rateLimit({ burst: "5" as never }), '"rateLimit.burst" must be a number'],
  ])("%s", (_name, define, message) => {
    expect(define).toThrow(TypeError);
    expect(define).toThrow(message);
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

describe("a member that would be ignored is refused, with its name, the definition and the cure", () => {
  const call = (): string => "a";
  const read = (): string => "a";
  const get = (): string => "a";
  const ofTool = (more: object): string =>
    refusal(() => createServer({ ...named, tools: { t: tool({ call, ...more }) } }));
  const ofPrompt = (more: object): string =>
    refusal(() => createServer({ ...named, prompts: { p: prompt({ get, ...more }) } }));
  const ofResource = (more: object, uri = "note://1"): string =>
    refusal(() => createServer({ ...named, resources: { r: resource(uri, { read, ...more }) } }));
  const ofServer = (more: object): string => refusal(() => createServer({ ...named, ...more }));

  test.each([
    [{ titel: "A" }, 'it has the unknown member "titel"; did you mean "title"?'],
    [{ Description: "A" }, 'did you mean "description"?'],
    [{ scope: ["a"] }, 'did you mean "scopes"?'],
    [{ outputs: {} }, 'did you mean "output"?'],
    [
      { zzzzzz: undefined },
      'it has the unknown member "zzzzzz"; its members are title, description, icons, scopes, meta, input,',
    ],
    [
      { annotations: { readonlyHint: true } },
      '"annotations" has the unknown member "readonlyHint"; did you mean "readOnlyHint"?',
    ],
    [{ annotations: ["readOnlyHint"] }, '"annotations" must be an object'],
    [{ icons: "a.png" }, '"icons" must be a list'],
    [{ icons: ["a.png"] }, '"icons[0]" must be an object'],
    [
      { icons: [{ src: "https://a/b.png" }, { src: "https://a/b.png", size: "48x48" }] },
      '"icons[1]" has the unknown member "size"; did you mean "sizes"?',
    ],
    [{ icons: [{ mimeType: "image/png" }] }, '"icons[0].src" must be a URL'],
    [{ icons: [{ src: "https://a/b.png", sizes: "48x48" }] }, '"icons[0].sizes" must be a list'],
    [{ scopes: "a b" }, '"scopes" must be a list of texts without spaces'],
    [{ scopes: ["a b"] }, '"scopes" must be a list of texts without spaces'],
    [{ scopes: [""] }, '"scopes" must be a list'],
    [{ scopes: [undefined] }, '"scopes" must be a list'],
    [{ meta: "a" }, '"meta" must be an object'],
    [{ meta: ["a"] }, '"meta" must be an object'],
    [{ description: 5 }, '"description" must be a string; got number'],
    [{ title: {} }, '"title" must be a string; got object'],
    [{ annotations: { title: ["A"] } }, '"annotations.title" must be a string; got a list'],
    [{ icons: [{ src: "https://a/b.png", mimeType: 5 }] }, '"icons[0].mimeType" must be a string; got number'],
    [{ extensions: [() => {}] }, '"extensions" must be a list, such as [asTask()]'],
    [{ extensions: { id: "com.example/x" } }, '"extensions" must be a list, such as [asTask()]'],
    [
      { extensions: [{ id: "com.example/x", methods: {} }] },
      "the extension com.example/x belongs to createServer({ extensions: [...] })",
    ],
  ])("tool: %j", (more, message) => {
    expect(ofTool(more)).toContain(`The tool "t" cannot be offered: `);
    expect(ofTool(more)).toContain(message);
  });

  test.each([
    [{ argument: {} }, 'did you mean "arguments"?'],
    [{ description: null }, '"description" must be a string; got object null'],
    [{ arguments: { a: { description: 5 } } }, '"arguments.a.description" must be a string; got number'],
    [
      { messages: [] },
      'it has the unknown member "messages"; its members are title, description, icons, scopes, meta, arguments, get',
    ],
    [{ icons: [{ url: "https://a/b.png" }] }, '"icons[0]" has the unknown member "url"'],
    [{ scopes: "a" }, '"scopes" must be a list'],
    [{ name: "other" }, 'its name is its key in "prompts"; leave "name" out'],
  ])("prompt: %j", (more, message) => {
    expect(ofPrompt(more)).toContain(`The prompt "p" cannot be offered: `);
    expect(ofPrompt(more)).toContain(message);
  });

  test.each([
    [{ mimetype: "text/plain" }, 'did you mean "mimeType"?'],
    [{ mimeType: 5 }, '"mimeType" must be a string; got number'],
    [
      { annotations: { audiences: ["user"] } },
      '"annotations" has the unknown member "audiences"; did you mean "audience"?',
    ],
    [{ cache: { ttl: 5 } }, '"cache" has the unknown member "ttl"'],
    [{ cache: { cachescope: "public" } }, 'did you mean "cacheScope"?'],
    [{ complete: { id: ["a"] } }, 'a resource without variables has no "complete"; leave it out'],
    [{ list: () => [] }, 'a resource without variables has no "list"; leave it out'],
    [{ name: "other" }, 'its name is its key in "resources"; leave "name" out'],
  ])("resource: %j", (more, message) => {
    expect(ofResource(more)).toContain(`The resource "r" cannot be offered: `);
    expect(ofResource(more)).toContain(message);
  });

  test.each([
    [{ size: 5 }, 'a template has no "size"; leave it out'],
    [{ complete: { id: "a" } }, '"complete.id" must be a list of texts or a function'],
    [{ complete: { id: [1] } }, '"complete.id" must be a list of texts or a function'],
    [{ complete: { other: ["a"] } }, '"complete" names "other", which is no variable of note://{id}'],
    [{ list: ["note://1"] }, '"list" must be a function'],
  ])("template: %j", (more, message) => {
    expect(ofResource(more, "note://{id}")).toContain(message);
  });

  test.each([
    [{ tolos: {} }, 'The server cannot be offered: it has the unknown member "tolos"; did you mean "tools"?'],
    [{ onErrors: () => {} }, 'did you mean "onError"?'],
    [{ auth: () => {} }, 'use "an option of listen, toFetch or toNodeHandler" instead of "auth"'],
    [{ port: 3000 }, 'use "an option of listen, toFetch or toNodeHandler" instead of "port"'],
    [{ middleware: [] }, 'use "server.use" instead of "middleware"'],
    [{ nonsense: 1 }, "its members are name, version, title, description"],
    [{ revisions: "2026-07-28" }, '"revisions" must be a list of texts; got string'],
    [{ revisions: [5] }, '"revisions" must be a list of texts; got a list'],
    [{ observers: { started() {} } }, '"observers" must be a list; got object'],
    [{ stateKeys: "secret" }, '"stateKeys" must be a list; got string'],
    [{ stateKeys: ["x".repeat(32)] }, "each must be a Uint8Array of 32 bytes"],
    [{ stateKeys: new Uint8Array(32) }, '"stateKeys" must be a list; got object'],
    [{ clock: 5 }, '"clock" must be an object; got number 5'],
    [{ clock: { now: () => 0 } }, '"clock" must have the methods now, setTimeout and clearTimeout'],
    [{ experimental: [] }, '"experimental" must be an object; got a list'],
    [{ limits: { inFlight: "10" } }, '"limits.inFlight" must be a whole number, 0 or more; got string'],
    [{ limits: { inFlight: -1 } }, "got number -1"],
    [{ limits: { inFlight: 1.5 } }, "got number 1.5"],
    [{ limits: { inFlight: Number.NaN } }, "got number NaN"],
    [{ limits: { pageSize: 0 } }, '"limits.pageSize" must be a whole number, 1 or more; got number 0'],
    [{ limits: { inflight: 5 } }, '"limits" has the unknown member "inflight"; did you mean "inFlight"?'],
    [
      { capabilities: { listchanged: false } },
      '"capabilities" has the unknown member "listchanged"; did you mean "listChanged"?',
    ],
    [{ listCache: { ttl: 5 } }, '"listCache" has the unknown member "ttl"'],
    [{ icons: [{ url: "a" }] }, '"icons[0]" has the unknown member "url"'],
    [{ instructions: 9 }, '"instructions" must be a string; got number'],
    [{ title: 9 }, '"title" must be a string; got number'],
    [{ websiteUrl: new URL("https://a/") }, '"websiteUrl" must be a string; got object'],
    [
      { observers: [() => {}] },
      'each of "observers" must have one of the methods started, refused, sessionEnded, failed',
    ],
    [{ extensions: [() => {}] }, '"extensions" must be a list, such as [tasks()]'],
    [{ extensions: { id: "com.example/x" } }, '"extensions" must be a list, such as [tasks()]'],
    [{ extensions: [{ id: "com.example/x", beforeCall: () => {} }] }, "The extension com.example/x belongs to a tool"],
  ])("server: %j", (more, message) => {
    expect(ofServer(more)).toContain(message);
  });

  test("accepts limits that are 0, 1 or Infinity", () => {
    const limits = { listenStreams: 0, pageSize: 1, inFlight: Infinity };
    expect(() => createServer({ ...named, limits })).not.toThrow();
  });

  test("when it is set on a live server, which keeps the definition before", () => {
    const server = createServer({ ...named, tools: { hello } });
    expect(refusal(() => server.tools.set("hello", tool({ call, titel: "A" } as never)))).toContain('"titel"');
    expect(server.tools.get("hello")).toBe(hello);
  });

  test("the longest name of an unknown member is shortened", () => {
    expect(ofTool({ [`x${"y".repeat(200)}`]: 1 }).length).toBeLessThan(400);
  });

  test("members that the library adds, copies with a name, and members whose value is undefined are accepted", () => {
    const base = tool({
      call,
      title: undefined,
      annotations: undefined,
      icons: undefined,
      scopes: undefined,
      meta: undefined,
    });
    const page = resource("note://{id}", { read, size: undefined, list: undefined, complete: undefined });
    const greeting = prompt({ get, arguments: undefined });
    const server = createServer({
      ...named,
      tools: { base, copy: { ...base, name: "copy" } as never, described: { ...base, description: "A copy." } },
      prompts: { greeting, again: { ...greeting, name: "again" } as never },
      resources: { page, again: { ...page, name: "again" } as never },
    });
    const outer = createServer({ name: "outer", version: "1" }).mount("in", server as never);
    expect([server.tools.size, outer.tools.size, outer.prompts.size, outer.resources.size]).toEqual([3, 3, 2, 2]);
    expect(() => createServer({ ...named, tools: { t: { ...base, [Symbol("mine")]: 1 } } })).not.toThrow();
  });
});

describe("a call in the form of another library is rejected, and the error shows the form", () => {
  const inTools = (value: unknown) => () => createServer({ ...named, tools: { a: value as never } });
  const inPrompts = (value: unknown) => () => createServer({ ...named, prompts: { a: value as never } });
  const inResources = (value: unknown) => () => createServer({ ...named, resources: { a: value as never } });
  // As a program in JavaScript.
  const [anyTool, anyPrompt, anyResource, anyServer] = [tool, prompt, resource, createServer] as any[];
  const handler = () => "a";

  test.each<[string, () => unknown, string]>([
    ["options of a server", () => anyServer(named, { capabilities: {} }), "createServer has one parameter"],
    [
      "definitions after the name",
      () => anyServer(named, { tools: { hello } }),
      "createServer({ name, version, tools })",
    ],
    ["tool(name, handler)", inTools(anyTool("a", handler)), "write tool({ input, call })"],
    ["tool(name, description, shape, handler)", inTools(anyTool("a", "b", {}, handler)), "write tool({ input, call })"],
    ["tool(handler)", inTools(anyTool(handler)), "write tool({ input, call })"],
    ["prompt(name, options, handler)", inPrompts(anyPrompt("a", {}, handler)), "write prompt({ arguments, get })"],
    ["prompt(handler)", inPrompts(anyPrompt(handler)), "write prompt({ arguments, get })"],
    ["resource(uri, handler)", inResources(anyResource("a:b", handler)), "write resource(uri, { read })"],
    ["resource(uri)", inResources(anyResource("a:b")), "write resource(uri, { read })"],
  ])("%s", (_name, define, part) => {
    expect(refusal(define)).toContain(part);
  });

  test("a function of an array can pass its own parameters", () => {
    expect([named].map(createServer)[0]?.name).toBe("x");
  });
});
