import { describe, expect, test } from "vitest";
import type { Catalogue, CatalogueChange, SchemaLoss, ServerLists } from "./catalogue.ts";
import { type CatalogueOptions, createCatalogue } from "./create-catalogue.ts";

const inputSchema = { type: "object", properties: {} };
const tool = (name: string, description = `Does ${name}.`) => ({ name, description, inputSchema });
const lists = (parts: Partial<ServerLists> = {}): ServerLists => ({
  tools: [],
  prompts: [],
  resources: [],
  templates: [],
  listedAt: 0,
  isCached: false,
  ...parts,
});
const toolsOf = (...names: string[]) => lists({ tools: names.map((name) => tool(name)) });

function start(options: CatalogueOptions = {}) {
  const errors: string[] = [];
  const losses: SchemaLoss[] = [];
  const changes: { change: CatalogueChange; catalogue: Catalogue }[] = [];
  const source = createCatalogue({
    onError: (server, { message }) => errors.push(`${server}: ${message}`),
    onLoss: (loss) => losses.push(loss),
    onChange: (change, catalogue) => changes.push({ change, catalogue }),
    ...options,
  });
  return { source, errors, losses, changes, names: () => source.current.tools.map(({ name }) => name) };
}

describe("the catalogue", () => {
  test("has the entries of all servers with their origin", () => {
    const { source } = start();
    source.replace("files", {
      ...toolsOf("read"),
      prompts: [{ name: "summary" }],
      resources: [{ uri: "file:///a", name: "a" }],
      templates: [{ uriTemplate: "file:///{path}", name: "file" }],
    });
    source.replace("mail", { ...toolsOf("read"), resources: [{ uri: "file:///a", name: "a" }] });
    const { current } = source;
    expect(current.tools.map(({ name, server }) => [name, server])).toEqual([
      ["files__read", "files"],
      ["mail__read", "mail"],
    ]);
    expect(current.tool("mail__read")).toMatchObject({ server: "mail", tool: tool("read"), inputSchema });
    expect(current.prompt("files:summary")).toEqual({
      name: "files:summary",
      server: "files",
      prompt: { name: "summary" },
    });
    expect(current.resources.map(({ server, resource }) => [server, resource.uri])).toEqual([
      ["files", "file:///a"],
      ["mail", "file:///a"],
    ]);
    expect(current.templates).toEqual([{ server: "files", template: { uriTemplate: "file:///{path}", name: "file" } }]);
    expect(current.tool("constructor")).toBeUndefined();
    expect(current.prompt("__proto__")).toBeUndefined();
  });

  test("names the entries that changed", () => {
    const { source, changes } = start();
    source.replace("files", { ...toolsOf("a", "b"), prompts: [{ name: "p" }], resources: [{ uri: "x:1", name: "1" }] });
    const change = source.replace("files", {
      ...lists({ tools: [tool("b", "New."), tool("c")] }),
      templates: [{ uriTemplate: "x:{id}", name: "t" }],
    });
    expect(change).toEqual({
      server: "files",
      added: ["files__c", "x:{id}"],
      removed: ["files__a", "files:p", "x:1"],
      changed: ["files__b"],
    });
    expect(changes).toHaveLength(2);
    expect(changes[1]).toEqual({ change, catalogue: source.current });
  });

  test("stays the same object if nothing changed", () => {
    const { source, changes } = start();
    source.replace("files", toolsOf("a", "b"));
    const before = source.current;
    expect(source.replace("files", toolsOf("a", "b"))).toBeUndefined();
    expect(source.replace("files", toolsOf("b", "a"))).toBeUndefined();
    expect(source.replace("mail", undefined)).toBeUndefined();
    expect(source.current).toBe(before);
    expect(changes).toHaveLength(1);
  });

  test("keeps unchanged tools and lists as the same objects", () => {
    const { source } = start();
    source.replace("files", { ...toolsOf("a", "b"), prompts: [{ name: "p" }] });
    const before = source.current;
    source.replace("files", { ...lists({ tools: [tool("a"), tool("b", "New.")] }), prompts: [{ name: "p" }] });
    expect(source.current.tools[0]).toBe(before.tools[0]);
    expect(source.current.tools[1]).not.toBe(before.tools[1]);
    expect(source.current.prompts).toBe(before.prompts);
    source.replace("mail", lists({ prompts: [{ name: "q" }] }));
    expect(source.current.tools[0]).toBe(before.tools[0]);
    expect(before.tools.map(({ description }) => description)).toEqual([
      '[MCP server "files"] Does a.',
      '[MCP server "files"] Does b.',
    ]);
  });

  test("keeps the places of tools, also of a server that returns", () => {
    const { source, names } = start();
    source.replace("files", toolsOf("a", "b"));
    source.replace("mail", toolsOf("c"));
    source.replace("files", toolsOf("new", "b", "a"));
    expect(names()).toEqual(["files__a", "files__b", "mail__c", "files__new"]);
    const before = source.current.tools;
    expect(source.replace("files", undefined)).toMatchObject({ removed: ["files__new", "files__b", "files__a"] });
    expect(names()).toEqual(["mail__c"]);
    expect(source.replace("files", toolsOf("a", "b", "new"))).toMatchObject({
      added: ["files__a", "files__b", "files__new"],
    });
    expect(source.current.tools).toEqual(before);
    expect(source.current.tools[0]).toBe(before[0]);
  });

  test("gives a tool that was removed a new place", () => {
    const { source, names } = start();
    source.replace("files", toolsOf("a", "b"));
    source.replace("files", toolsOf("b"));
    source.replace("files", toolsOf("a", "b"));
    expect(names()).toEqual(["files__b", "files__a"]);
  });

  test("forgets a server that is removed", () => {
    const { source, names } = start();
    source.replace("files", toolsOf("a"));
    source.replace("mail", toolsOf("b"));
    expect(source.remove("files")).toMatchObject({ removed: ["files__a"] });
    expect(source.remove("files")).toBeUndefined();
    source.replace("files", toolsOf("a"));
    expect(names()).toEqual(["mail__b", "files__a"]);
  });

  test("an older catalogue does not change", () => {
    const { source } = start();
    source.replace("files", toolsOf("a"));
    const before = source.current;
    source.replace("files", toolsOf("b"));
    expect(before.tools.map(({ name }) => name)).toEqual(["files__a"]);
    expect(before.tool("files__a")).toBeDefined();
    expect(before.tool("files__b")).toBeUndefined();
    expect(() => Reflect.apply(Array.prototype.push, before.tools, [1])).toThrow(TypeError);
  });
});

describe("definitions that cannot be used", () => {
  test("are left out and reported, and the others are used", () => {
    const { source, errors, names } = start();
    const broken: unknown[] = [
      null,
      { name: "", inputSchema },
      { name: 7, inputSchema },
      { name: "noSchema" },
      { name: "listSchema", inputSchema: [] },
      tool("good"),
      { name: "odd", inputSchema: { type: "strange", properties: 7, anyOf: "x" } },
    ];
    source.replace(
      "files",
      JSON.parse(JSON.stringify(lists({ tools: [] }), (key, value) => (key === "tools" ? broken : value))),
    );
    expect(names()).toEqual(["files__good", "files__odd"]);
    expect(source.current.tool("files__odd")?.inputSchema).toEqual(inputSchema);
    expect(errors).toEqual([
      "files: A tool is left out: it has no name.",
      "files: A tool is left out: it has no name.",
      "files: A tool is left out: it has no name.",
      'files: The tool "noSchema" is left out: its `inputSchema` is not an object.',
      'files: The tool "listSchema" is left out: its `inputSchema` is not an object.',
    ]);
  });

  test("the first of two tools with one name is used", () => {
    const { source, errors } = start();
    source.replace("files", lists({ tools: [tool("a", "First."), tool("a", "Second."), tool("b")] }));
    expect(source.current.tools).toHaveLength(2);
    expect(source.current.tool("files__a")?.tool.description).toBe("First.");
    expect(errors).toEqual(['files: The tool "a" is left out: the server lists it twice, and the first one is used.']);
  });

  test("a tool cannot take a name of the host", () => {
    const { source, errors, names } = start({ reservedNames: new Set(["host__search"]) });
    source.replace("host", toolsOf("search", "find"));
    expect(names()).toEqual(["host__find"]);
    expect(errors).toEqual([
      'host: The tool "search" is left out: its name for the model "host__search" is reserved for the host.',
    ]);
  });

  test("2,000 tools are used, and more are reported", () => {
    const { source, errors, names } = start();
    const many = (count: number) => toolsOf(...Array.from({ length: count }, (_, index) => `t${index}`));
    source.replace("files", many(2000));
    expect(errors).toEqual([]);
    source.replace("files", many(2001));
    expect(names()).toHaveLength(2000);
    expect(errors).toEqual([
      'files: Server "files" lists 2001 tools. The first 2000 are used, and the others are left out.',
    ]);
  });

  test("20 errors of a list are reported", () => {
    const { source, errors } = start();
    source.replace("files", toolsOf(...Array.from({ length: 100 }, () => "same")));
    expect(errors).toHaveLength(20);
    expect(errors.at(-1)).toMatch(/Further errors of this list are not reported\.$/);
  });
});

describe("the definition for the model", () => {
  test("has a description with its server, without invisible characters, within the limit", () => {
    const { source } = start();
    source.replace(
      "files",
      lists({
        tools: [
          tool("a", "Reads\u200b a \u{e0041}file.\u001b[2J"),
          tool("b", "x".repeat(5000)),
          { name: "c", inputSchema },
        ],
      }),
    );
    const [a, b, c] = source.current.tools.map(({ description }) => description);
    expect(a).toBe('[MCP server "files"] Reads\\u{200b} a \\u{e0041}file.\\x1b[2J');
    expect(b).toHaveLength(1024);
    expect(b).toMatch(/x…$/);
    expect(c).toBe('[MCP server "files"]');
  });

  test("contains no half of a surrogate pair", () => {
    const { source } = start();
    source.replace("files", lists({ tools: [tool("a", "\ud800x"), tool("b", "😀".repeat(1000))] }));
    for (const { description } of source.current.tools) expect(description).not.toMatch(/\p{Surrogate}/u);
  });

  test("reports the losses of new and changed tools once, with their tool", () => {
    const { source, losses } = start({ provider: "google" });
    const url = { type: "object", properties: { url: { type: "string", format: "uri" } } };
    const fetchTool = { name: "fetch", inputSchema: url };
    source.replace("web", lists({ tools: [fetchTool] }));
    source.replace("web", lists({ tools: [fetchTool, tool("other")] }));
    expect(losses).toEqual([
      {
        server: "web",
        tool: "fetch",
        path: "/properties/url",
        keyword: "format",
        effect: "looser",
        change: 'The format "uri" was removed. The description names it.',
      },
    ]);
    source.replace("web", lists({ tools: [{ ...fetchTool, title: "Fetch" }] }));
    expect(losses).toHaveLength(2);
  });
});
