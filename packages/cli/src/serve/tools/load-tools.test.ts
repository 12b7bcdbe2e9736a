import { ToolError } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { codeModules } from "./code-modules.ts";
import { formatProblem } from "../yaml/problem.ts";
import { serveFiles } from "../testing/served-folder.ts";
import { addFiles, temporaryFolder } from "../testing/temporary-folder.ts";

const head = 'import { ToolError, image, tool } from "mcparley/server";\n';

test("runs TypeScript without a build step or node_modules, and names the exported tools after the path", async () => {
  const { client, live } = await serveFiles({
    "tools/add.ts":
      `${head}interface Sum { a: number; b: number }\nexport default tool({\n  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },\n` +
      "  call: (input) => { const { a, b } = input as unknown as Sum; return a + b; },\n});\n",
    "tools/deep/more.mjs": `${head}export const one = tool({ call: () => "1" });\nexport const two = tool({ call: () => "2" });\nexport const answer = 42;\nexport default tool({ call: () => "default" });\n`,
    "tools/wait.js": `${head}const greeting = await Promise.resolve("hi");\nexport default tool({ call: () => greeting });\n`,
    "tools/_shared.ts": "export const nothing = 1;\n",
    "tools/add.test.ts": "throw new Error('never run');\n",
    "tools/types.d.ts": "export {};\n",
  });
  expect(live.problems).toEqual([]);
  const names = (await client.listTools().all()).map(({ name }) => name);
  expect(names.toSorted()).toEqual(["add", "deep_more", "deep_one", "deep_two", "wait"]);
  expect(await client.callTool("add", { a: 1, b: 2 })).toBe("3");
  expect(await client.callTool("deep_more")).toBe("default");
  expect(await client.callTool("wait")).toBe("hi");
});

test("resolves the library in a tool to the copy of this process, so that its ToolError is recognized", async () => {
  const { client, errors } = await serveFiles({
    "tools/fail.ts": `${head}export default tool({ call: () => { throw new ToolError("told to the model"); } });\n`,
    "tools/crash.ts": `${head}export default tool({ call: () => { throw new Error("kept: postgres://user:pw@db"); } });\n`,
    "tools/picture.ts": `${head}export default tool({ call: () => image(new Uint8Array([1]), "image/png") });\n`,
  });
  await expect(client.callTool("fail")).rejects.toThrow(ToolError);
  await expect(client.callTool("fail")).rejects.toThrow("told to the model");
  expect((await client.callToolResult("picture")).content).toEqual([
    { type: "image", data: "AQ==", mimeType: "image/png" },
  ]);
  const crash = await client.callTool("crash").catch((error: unknown) => error);
  expect(String(crash)).not.toContain("postgres");
  expect(errors.map(({ what, error }) => [what, String(error)])).toEqual([
    ["tools/call crash", "Error: kept: postgres://user:pw@db"],
  ]);
});

test("shares the state of a module that two tools import", async () => {
  const { client } = await serveFiles({
    "lib/counter.ts": "let count = 0;\nexport const next = (): number => (count += 1);\n",
    "tools/a.ts": `${head}import { next } from "../lib/counter.ts";\nexport default tool({ call: () => next() });\n`,
    "tools/b.ts": `${head}import { next } from "../lib/counter";\nexport default tool({ call: () => next() });\n`,
  });
  expect(await client.callTool("a")).toBe("1");
  expect(await client.callTool("b")).toBe("2");
  expect(await client.callTool("a")).toBe("3");
});

test("resolves packages in the node_modules of the folder", async () => {
  const { client } = await serveFiles({
    "node_modules/greeter/package.json": '{ "name": "greeter", "type": "module", "exports": "./index.js" }',
    "node_modules/greeter/index.js": "export const greet = () => 'from a package';\n",
    "tools/a.ts": `${head}import { greet } from "greeter";\nexport default tool({ call: () => greet() });\n`,
  });
  expect(await client.callTool("a")).toBe("from a package");
});

describe("an invalid module is a problem at its line, and the others are served", () => {
  test.each([
    [`${head}\nexport default tool({,});\n`, /^tools\/t\.ts:3:\d+: ParseError: Unexpected token/],
    [`${head}\nexport default tool(nope);\n`, /^tools\/t\.ts:3: ReferenceError: nope is not defined/],
    [`throw new Error("at start");\n`, /^tools\/t\.ts:1: at start/],
    [`throw "a text";\n`, /^tools\/t\.ts:1: a text/],
    ["export const a = 1;\n", /^tools\/t\.ts:1: the module exports no tool — Write `export default tool/],
    [`import "./missing.ts";\n`, /^tools\/t\.ts:1: the module ".*missing\.ts" does not exist — Correct the path/],
    [
      `import { x } from "not-installed-here";\nx();\n`,
      /the module "not-installed-here" does not exist — Install it: npm install/,
    ],
    [
      `${head}export default tool({ input: { type: "string" }, call: () => "" });\n`,
      /^tools\/t\.ts:1: .*must be an object/,
    ],
    [`${head}export default tool({} as never);\n`, /^tools\/t\.ts:1: .*it has no `call` function/],
    [
      `${head}export default tool({ cal: () => "" } as never);\n`,
      /^tools\/t\.ts:1: .*the unknown member "cal"; did you mean "call"\?/,
    ],
    ['export default { kind: "tool" };\n', /exports no tool/],
  ])("%j", async (source, expected) => {
    const { live, client } = await serveFiles({
      "tools/t.ts": source,
      "tools/ok.ts": `${head}export default tool({ call: () => "ok" });\n`,
    });
    expect(live.problems.map((problem) => formatProblem(problem))).toEqual([expect.stringMatching(expected)]);
    expect(await client.callTool("ok")).toBe("ok");
  });

  test("reports an error in an imported module at its place", async () => {
    const { live } = await serveFiles({
      "lib/broken.ts": "export const a = 1;\nexport const b = nope;\n",
      "tools/t.ts": `${head}import { b } from "../lib/broken.ts";\nexport default tool({ call: () => b });\n`,
    });
    expect(live.problems).toMatchObject([
      { file: "lib/broken.ts", line: 2, message: "ReferenceError: nope is not defined" },
    ]);
  });

  test("reports a module that does not finish loading", async () => {
    const folder = await temporaryFolder({ "tools/hang.mjs": "await new Promise(() => {});\n" });
    const loading = codeModules(folder, { timeLimit: 50 }).load("tools/hang.mjs");
    await expect(loading).rejects.toThrow("tools/hang.mjs:1: it did not finish loading within 0.05 s");
  });
});

test("reports two files whose tools have the same name", async () => {
  const { live } = await serveFiles({
    "tools/a/b.ts": `${head}export default tool({ call: () => "first" });\n`,
    "tools/a_b.yaml": "command: [echo]\n",
  });
  expect(live.problems.map((problem) => formatProblem(problem))).toEqual([
    'tools/a_b.yaml:1: the tool "a_b" is in tools/a/b.ts already — Rename one of the two.',
  ]);
});

test("reads edited modules and their imports again after forget, and the old ones before", async () => {
  const folder = await temporaryFolder({
    "lib/text.ts": 'export const text = "old";\n',
    "tools/t.ts": 'import { text } from "../lib/text.ts";\nexport default text;\n',
  });
  const modules = codeModules(folder);
  expect((await modules.load("tools/t.ts")).default).toBe("old");
  await addFiles(folder, { "lib/text.ts": 'export const text = "new";\n' });
  expect((await modules.load("tools/t.ts")).default).toBe("old");
  modules.forget();
  expect((await modules.load("tools/t.ts")).default).toBe("new");
});

test("fails in the same way when a failed module is loaded again", async () => {
  const folder = await temporaryFolder({ "tools/t.ts": "export const half = 1;\nthrow new Error('later');\n" });
  const modules = codeModules(folder);
  await expect(modules.load("tools/t.ts")).rejects.toThrow("later");
  await expect(modules.load("tools/t.ts")).rejects.toThrow("tools/t.ts:2: later");
});
