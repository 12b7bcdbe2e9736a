import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatProblem } from "../yaml/problem.ts";
import { serveFiles, serveFolder } from "../testing/served-folder.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

/** Prints its arguments, its input, its folder and its environment. */
const report = `
import { readFileSync } from "node:fs";
const [mode, ...args] = process.argv.slice(2);
if (mode === "fail") { process.stderr.write("bad luck"); process.exit(4); }
const input = readFileSync(0, "utf8");
process.stdout.write(mode === "text" ? args.join("|") : JSON.stringify({ args, input, cwd: process.cwd(), env: process.env }));
`;

const input =
  "input:\n  type: object\n  properties:\n    a: {type: string}\n    list: {type: array, items: {type: string}}\n";

test("makes a tool of a program, with the schema, hints and text of its file", async () => {
  const { client } = await serveFiles({
    "tools/git/say.yaml":
      `title: Say\ndescription: Says it.\nannotations: {readOnlyHint: true}\n${input}  required: [a]\n` +
      'command: [node, report.mjs, text, "{{a}}"]\n',
    "report.mjs": report,
  });
  const [tool] = await client.listTools().all();
  expect(tool).toMatchObject({
    name: "git_say",
    title: "Say",
    description: "Says it.",
    annotations: { readOnlyHint: true },
    inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  });
  expect(await client.callTool("git_say", { a: "$(id); `id` && x" })).toBe("$(id); `id` && x");
  await expect(client.callTool("git_say", {})).rejects.toThrow(/not valid/);
  await expect(client.callTool("git_say", { a: "--help" })).rejects.toThrow("must not begin with a hyphen");
});

test("runs in the folder or in cwd, with its input and the allowed environment", async () => {
  const folder = await temporaryFolder({
    "tools/p.yaml": `${input}command: [node, report.mjs, json, --, "{{list}}", "{{a}}"]\nstdin: "in: {{a}}"\nenv: [ALLOWED]\noutput: json\n`,
    "tools/q.yaml": "command: [node, ../report.mjs, json]\ncwd: sub\nenv: {SET: here}\noutput: json\n",
    "report.mjs": report,
    "sub/x": "",
  });
  const env = { ...process.env, ALLOWED: "yes", SECRET: "no" };
  const { client } = await serveFolder(folder, { live: { env } });
  const p = await client.callTool("p", { a: "-x", list: ["1", "2 3"] });
  expect(p).toMatchObject({ args: ["--", "1", "2 3", "-x"], input: "in: -x", cwd: folder, env: { ALLOWED: "yes" } });
  expect(p.env).not.toHaveProperty("SECRET");
  const q = await client.callTool("q");
  expect(q).toMatchObject({ cwd: join(folder, "sub"), input: "", env: { SET: "here" } });
  expect(q.env).not.toHaveProperty("ALLOWED");
});

test("returns JSON output that a schema describes, and a tool error for other output", async () => {
  const schema = "output: {type: object, properties: {args: {type: array}}, required: [args]}\n";
  const { client } = await serveFiles({
    "tools/good.yaml": `command: [node, report.mjs, json]\n${schema}`,
    "tools/bad.yaml": `command: [node, report.mjs, text, hello]\n${schema}`,
    "tools/list.yaml": "command: [node, -e, \"console.log('[1]')\"]\noutput: json\n",
    "report.mjs": report,
  });
  expect((await client.callToolResult("good")).structuredContent).toMatchObject({ args: [] });
  await expect(client.callTool("bad")).rejects.toThrow('did not write JSON. Its output starts with "hello"');
  expect(await client.callTool("list")).toBe("[1]");
});

test("reports a failure and a timeout as tool errors, not as internal errors", async () => {
  const { client, errors } = await serveFiles({
    "tools/fail.yaml": "command: [node, report.mjs, fail]\n",
    "tools/slow.yaml": 'command: [node, -e, "setInterval(() => {}, 1000)"]\ntimeout: 100ms\n',
    "tools/loud.yaml": "command: [node, -e, \"process.stdout.write('x'.repeat(2000))\"]\nmaxOutput: 1 KiB\n",
    "tools/fine.yaml": "command: [node, report.mjs, fail]\nexitCodes: [0, 4]\n",
    "report.mjs": report,
  });
  await expect(client.callTool("fail")).rejects.toThrow("failed with exit code 4:\nbad luck");
  await expect(client.callTool("slow")).rejects.toThrow("took longer than 100 ms");
  await expect(client.callTool("loud")).rejects.toThrow("wrote more than 1 KiB");
  expect(await client.callTool("fine")).toBe("");
  expect(errors).toEqual([]);
});

describe("reports an invalid file at its line:", () => {
  test.each([
    ["title: x\n", "tools/t.yaml:1:1: the file has no command"],
    ["command: grep x\n", "tools/t.yaml:1:1: command must be a list"],
    ["command: []\n", "must start with the name of a program"],
    ['command: ["{{a}}"]\ninput: {properties: {a: {}}}\n', "A placeholder cannot select the program"],
    [
      'command: [echo, "{{b}}"]\ninput: {properties: {a: {}}}\n',
      "tools/t.yaml:1:17: the placeholder {{b}} is not a property",
    ],
    ['command: [echo]\nstdin: "{{b}}"\n', "the placeholder {{b}} is not a property of input — None are available."],
    ["command: [echo]\ntimeot: 3\n", 'tools/t.yaml:2:1: unknown key "timeot" — Did you mean "timeout"?'],
    ["command: [echo]\ntimeout: soon\n", '"timeout" must be a time above zero, not "soon" — Write it as 30s.'],
    ["command: [echo]\nmaxOutput: 0\n", '"maxOutput" must be a size above zero'],
    ["command: [echo]\ncwd: ..\n", "tools/t.yaml:2:1: cwd leaves the folder"],
    ["command: [echo]\ncwd: nowhere\n", "there is no folder nowhere"],
    ["command: [echo]\noutput: xml\n", '"output" cannot be "xml"'],
    ["command: [echo]\nannotations: {readonlyHint: true}\n", 'Did you mean "readOnlyHint"?'],
    ["command: [echo\n", "tools/t.yaml:2:1: "],
    ["command: [no-such-program-here]\n", 'tools/t.yaml:1:11: the program "no-such-program-here" is not installed'],
    ["command: [tools/missing.sh]\n", 'tools/t.yaml:1:11: there is no program "tools/missing.sh"'],
    ["title: x\ncommand: [./tools/t.yaml]\n", 'tools/t.yaml:2:11: "./tools/t.yaml" is not executable'],
    ["command: [echo]\nallowOptions: [zzz]\n", 'tools/t.yaml:2:16: "zzz" in allowOptions is not a property of input'],
    [
      'command: [echo, "{{a}}"]\nallowOptions: [A]\ninput: {properties: {a: {}}}\n',
      '"A" in allowOptions is not a property of input — Did you mean "a"?',
    ],
    [
      "command: [echo]\ninput:\n  type: object\n  properties:\n    a: {type: strin}\n",
      'tools/t.yaml:5:9: "input": The schema has "strin" at #/properties/a/type',
    ],
    ["command: [echo]\noutput:\n  type: object\n  required: yes\n", 'tools/t.yaml:4:3: "output": The schema has'],
    ["command: [echo]\ninput:\n  type: array\n", "tools/t.yaml:2:1: its input must be an object"],
  ])("%j", async (source, expected) => {
    const { live } = await serveFiles({ "tools/t.yaml": source });
    const [problem, ...more] = live.problems.map((found) => formatProblem(found));
    expect(more).toEqual([]);
    expect(problem).toContain(expected);
    expect(live.server.tools.size).toBe(0);
  });

  test("a cwd that leaves the folder through a link", async () => {
    const folder = await temporaryFolder({ "tools/t.yaml": "command: [echo]\ncwd: out\n" });
    await symlink("/tmp", join(folder, "out"));
    const { live } = await serveFolder(folder);
    expect(live.problems[0]?.message).toBe("cwd leaves the folder that is served");
  });

  test.each(["my tool", "a.b", "ä", "x".repeat(65)])("the name %j", async (name) => {
    const { live } = await serveFiles({ [`tools/${name}.yaml`]: "command: [echo]\n" });
    expect(live.problems[0]?.message).toBe(`"${name}" is not a valid name for a tool`);
  });
});
