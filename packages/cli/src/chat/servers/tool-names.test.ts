import { expect, test } from "vitest";
import { allowRules, similarTool, toolsNamed, unmatchedPatterns } from "./tool-names.ts";

const entry = (server: string, tool: string, name = `${server}__${tool}`) => ({
  name,
  server,
  tool: { name: tool, inputSchema: { type: "object" as const } },
  description: "",
  inputSchema: {},
});
const tools = [
  entry("notes", "search"),
  entry("files", "read"),
  entry("odd", "工具", "odd_abcdefghijkl"),
  entry("mail", "read"),
];
const catalogue = {
  tools,
  prompts: [],
  resources: [],
  templates: [],
  tool: (name: string) => tools.find((one) => one.name === name),
  prompt: () => undefined,
};

test.each(["notes__search", "notes:search", "notes/search", "search"])("finds a tool as %s", (name) => {
  expect(toolsNamed(name, catalogue)).toEqual([tools[0]]);
});

test.each(["odd_abcdefghijkl", "odd:工具", "odd/工具", "odd__工具", "工具"])(
  "finds a tool whose name for the model has a hash as %s, and allows it",
  (name) => {
    expect(toolsNamed(name, catalogue)).toEqual([tools[2]]);
    expect(unmatchedPatterns([name], catalogue)).toEqual([]);
  },
);

test("finds all tools with a name that several servers use", () => {
  expect(toolsNamed("read", catalogue)).toEqual([tools[1], tools[3]]);
  expect(toolsNamed("nothing", catalogue)).toEqual([]);
});

test.each(["notes__*", "notes:sea*", "no*/search", "search", "*", "*:read"])(
  "allows tools by the pattern %s",
  (pattern) => {
    expect(unmatchedPatterns([pattern], catalogue)).toEqual([]);
  },
);

test("reports each pattern that matches no tool, with a similar name", () => {
  expect(unmatchedPatterns(["notes:serch", "search", "mail__red"], catalogue)).toEqual([
    '--allow "notes:serch" matches no tool. Did you mean "notes:search"?',
    '--allow "mail__red" matches no tool. Did you mean "mail__read"?',
  ]);
  expect(similarTool("zzzzzzzz", catalogue)).toContain("Available: notes__search");
});

test("a pattern with a colon allows tools of its server only, and not a tool with that text as its name", () => {
  expect(allowRules(["notes:search"], undefined)).toEqual([{ decision: "allow", server: "notes", tool: "search" }]);
});

test("a name with a hash allows no tool by a wildcard in the name of the tool", () => {
  const wildcard = entry("odd", "*", "odd_x_abcdefghijkl");
  const other = { ...catalogue, tools: [wildcard], tool: () => wildcard };
  expect(allowRules([wildcard.name], other)).toEqual([{ decision: "allow", tool: wildcard.name }]);
});
