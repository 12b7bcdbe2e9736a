import { createServer, prompt, resource, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { runWith } from "./testing/fake-io.ts";
import { connectToScript, oneOfEach } from "./testing/refusing-peer.ts";

const url = "http://127.0.0.1:1/mcp";
const entries = {
  "tools/list": "a_tool",
  "prompts/list": "a_prompt",
  "resources/list": "note://a_resource",
  "resources/templates/list": "note://{a_template}",
};
const methods = Object.keys(entries) as (keyof typeof entries)[];
const kindOf = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "templates",
};

describe.each(methods)("a server that refuses %s", (method) => {
  const others = methods.filter((one) => one !== method);
  const refuse = (code: number) =>
    connectToScript({ ...oneOfEach, [method]: { error: { code, message: "It is out of order" } } });

  test("has no such entries if it does not know the method", async () => {
    const { code, io } = await runWith({ connect: refuse(-32601) }, `list ${url}`);
    expect(code).toBe(0);
    expect(io.err()).toBe("");
    for (const one of others) expect(io.out()).toContain(entries[one]);
    const json = await runWith({ connect: refuse(-32601) }, `list ${url} --json`);
    expect(JSON.parse(json.io.out())).toMatchObject({ [memberOf(method)]: [] });
    const alone = await runWith({ connect: refuse(-32601) }, `list ${url} ${kindOf[method]}`);
    expect(alone.code).toBe(0);
    expect(alone.io.out()).toEqual(expect.stringContaining("(0)"));
  });

  test("is listed without that list, which is named on stderr with exit code 2", async () => {
    const { code, io } = await runWith({ connect: refuse(-32603) }, `list ${url}`);
    expect(code).toBe(2);
    expect(io.err()).toBe(
      `mcparley: The server answered ${method} with -32603: It is out of order\n  More: mcparley help -32603\n`,
    );
    for (const one of others) expect(io.out()).toContain(entries[one]);
    expect(io.out()).not.toContain(entries[method]);
  });

  test("is one JSON document that contains the error", async () => {
    const { code, io } = await runWith({ connect: refuse(-32603) }, `list ${url} --json`);
    const document = JSON.parse(io.out());
    expect(code).toBe(2);
    expect(document.errors).toEqual([
      {
        method,
        code: -32603,
        message: `The server answered ${method} with -32603: It is out of order`,
        help: "mcparley help -32603",
        exitCode: 2,
      },
    ]);
    for (const one of others) expect(document[memberOf(one)]).toHaveLength(1);
    expect(document).not.toHaveProperty(memberOf(method));
  });

  test("fails if only that list is requested", async () => {
    const { code, io } = await runWith({ connect: refuse(-32603) }, `list ${url} ${kindOf[method]}`);
    expect(code).toBe(2);
    expect(io.out()).toBe("");
    expect(io.err()).toContain(`The server answered ${method} with -32603: It is out of order`);
  });
});

test("shows the entries of a list without an end, and names the list on stderr", async () => {
  const tool = { name: "a_tool", inputSchema: { type: "object" } };
  const endless = { tools: [tool], nextCursor: "again" };
  for (const words of [`list ${url}`, `list ${url} tools`, `list ${url} --json`]) {
    const connect = connectToScript({ ...oneOfEach, "tools/list": { result: endless } });
    const { code, io } = await runWith({ connect }, words);
    expect(code).toBe(0);
    expect(io.out().split("a_tool")).toHaveLength(2);
    const report = io.err().replaceAll(/\s+/g, " ");
    expect(report.split("The list of tools/list is incomplete; the entries that were read are used.")).toHaveLength(2);
    expect(report).toContain("The server returned the same cursor twice");
  }
});

test("reports each method of a server that refuses every list", async () => {
  const error = { code: -32603, message: "It is out of order" };
  const connect = connectToScript(Object.fromEntries(methods.map((method) => [method, { error }])));
  const { code, io } = await runWith({ connect }, `list ${url}`);
  expect(code).toBe(2);
  for (const method of methods) expect(io.err()).toContain(`answered ${method} with -32603`);
});

test("reports the refusal of a list without the key in the URL of the server", async () => {
  const error = { code: -32603, message: "The key hunter2hunter2 is out of order" };
  const target = "https://h.example/mcp?key=hunter2hunter2";
  for (const json of ["", " --json"]) {
    const connect = connectToScript({ ...oneOfEach, "prompts/list": { error } });
    const { code, io } = await runWith({ connect }, `list ${target}${json}`);
    expect(code).toBe(2);
    expect(io.out() + io.err()).toContain("The key *** is out of order");
  }
});

test("reports a refused request with its method", async () => {
  const error = { code: -32603, message: "It is out of order" };
  const answers = { ...oneOfEach, "tools/call": { error }, "resources/read": { error }, "prompts/get": { error } };
  for (const [words, method] of [
    ["call a_tool", "tools/call"],
    ["read note://a_resource", "resources/read"],
    ["prompt a_prompt", "prompts/get"],
  ] as const) {
    const [command, word] = words.split(" ");
    const { io } = await runWith({ connect: connectToScript(answers) }, `${command} ${url} ${word}`);
    expect(io.err()).toBe(
      `mcparley: The server answered ${method} with -32603: It is out of order\n  More: mcparley help -32603\n`,
    );
  }
});

test("reports an unknown URI also if the server cannot list its resources", async () => {
  const missing = { code: -32602, message: "No such resource", data: { uri: "note://b" } };
  const connect = connectToScript({ ...oneOfEach, "resources/read": { error: missing }, "resources/list": refused });
  const { code, io } = await runWith({ connect }, `read ${url} note://b`);
  expect(code).toBe(1);
  expect(io.err()).toContain('The server has no resource "note://b".');
});

const refused = { error: { code: -32603, message: "It is out of order" } };

function memberOf(method: keyof typeof entries): string {
  return method === "resources/templates/list" ? "resourceTemplates" : kindOf[method];
}

describe("the instructions of a server", () => {
  const long = Array.from({ length: 40 }, (_, index) => `${index}: Use this tool with care.`).join("\n");
  const serverWith = (instructions: string) => createServer({ name: "careful", version: "1.0.0", instructions });

  test("are shortened to three lines, and --instructions shows all", async () => {
    for (const terminal of [true, false]) {
      const server = serverWith(long);
      const env = { NO_COLOR: "1" };
      const { io } = await runWith({ server, terminal, env }, `list ${url}`);
      expect(io.out()).toContain("2: Use this tool with care. ...");
      expect(io.out()).not.toContain("3: Use");
      expect(io.out()).toContain(`[${long.length} characters of instructions: --instructions shows all]`);
      expect(io.out().split("\n").length).toBeLessThan(10);
      const all = await runWith({ server, terminal, env }, `list ${url} --instructions`);
      expect(all.io.out()).toContain("39: Use this tool with care.");
      expect(all.io.out()).not.toContain("--instructions");
    }
  });

  test("are cut between words if they are one long line", async () => {
    const { io } = await runWith({ server: serverWith("many words ".repeat(100)) }, `list ${url}`);
    expect(io.out()).toMatch(/many words(?: many words)* (?:many )?\.\.\.\n\[1099 characters/);
  });

  test("are shown as a whole if they are short", async () => {
    const { io } = await runWith({ server: serverWith("Use it with care.") }, `list ${url}`);
    expect(io.out()).toContain("\nUse it with care.\n");
    expect(io.out()).not.toContain("--instructions");
  });

  test("are part of the JSON document with --instructions", async () => {
    const { io } = await runWith({ server: serverWith(long) }, `list ${url} --json --instructions`);
    expect(JSON.parse(io.out())).toMatchObject({ instructions: long });
  });
});

describe("an empty list", () => {
  const hidden = tool({ scopes: ["notes:write"], call: () => "written" });
  const note = resource("note://1", { read: () => "Buy milk." });
  const serverOf = (definition: object) =>
    createServer({ name: "notes", version: "1.0.0", onWarning: () => {}, ...definition });

  test.each([
    ["tools", { tools: { hidden } }, "The list of tools is empty."],
    ["tools and prompts", { tools: {}, prompts: {}, resources: { note } }, "The list of tools and prompts is empty."],
    ["resources and their templates", { resources: {} }, "The list of resources is empty."],
  ])("of %s has a note on stderr that the server may hide entries", async (_, definition, text) => {
    const { code, io } = await runWith({ server: serverOf(definition) }, `list ${url}`);
    expect(code).toBe(0);
    const err = io.err().replaceAll(/\s+/g, " ");
    expect(err).toContain(`${text} A server can hide entries from callers that lack scopes.`);
    expect(err).toContain('the option "principal" of serveStdio');
  });

  test("that is the only requested one has the note", async () => {
    const server = serverOf({ resources: { note } });
    const { io } = await runWith({ server }, `list ${url} templates`);
    expect(io.err()).toContain("The list of templates is empty.");
  });

  test("of templates beside resources, and a list that the server does not declare, have no note", async () => {
    for (const words of ["", " tools", " resources"])
      expect((await runWith({ server: serverOf({ resources: { note } }) }, `list ${url}${words}`)).io.err()).toBe("");
  });

  test("has no note in a JSON document", async () => {
    const { io } = await runWith({ server: serverOf({ tools: { hidden } }) }, `list ${url} --json`);
    expect(io.err()).toBe("");
    expect(JSON.parse(io.out())).toMatchObject({ tools: [] });
  });
});

test.each([
  ["call", "tool", "hidden"],
  ["prompt", "prompt", "hidden"],
])("%s says that the server may hide the %s", async (command, kind, name) => {
  const hidden = {
    tools: { hidden: tool({ scopes: ["notes:write"], call: () => "written" }) },
    prompts: { hidden: prompt({ scopes: ["notes:write"], get: () => "written" }) },
  };
  const server = createServer({ name: "notes", version: "1.0.0", onWarning: () => {}, ...hidden });
  const { code, io } = await runWith({ server }, `${command} ${url} ${name}`);
  expect(code).toBe(1);
  const err = io.err().replaceAll(/\s+/g, " ");
  expect(err).toContain(`The server has no ${kind} "hidden". A server can hide entries`);
});

test("the refusal of a resource without a principal names the scope and the option", async () => {
  const hidden = resource("note://1", { scopes: ["notes:write"], read: () => "Buy milk." });
  const server = createServer({ name: "notes", version: "1.0.0", onWarning: () => {}, resources: { hidden } });
  const { code, io } = await runWith({ server }, `read ${url} note://1`);
  expect(code).toBe(2);
  expect(io.err().replaceAll(/\s+/g, " ")).toMatch(/403: .*notes:write.*\{ principal \} to serveStdio/);
});
