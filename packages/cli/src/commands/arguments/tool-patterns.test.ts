import { expect, test } from "vitest";
import { isAllowed, patternTools, similarTool, toolsNamed, unmatchedPatterns } from "./tool-spellings.ts";

const entry = (server: string, tool: string, name = `${server}__${tool}`) => ({ name, server, tool: { name: tool } });
const tools = [
  entry("notes", "search"),
  entry("files", "read"),
  entry("odd", "工具", "odd_abcdefghijkl"),
  entry("mail", "read"),
  entry("my__db", "drop"),
  entry("other", "notes:search"),
];
const [search, , odd, , drop, imitation] = tools as [
  NamedEntry,
  NamedEntry,
  NamedEntry,
  NamedEntry,
  NamedEntry,
  NamedEntry,
];
type NamedEntry = ReturnType<typeof entry>;
const named = { tools, servers: tools.map(({ server }) => server) };

test.each(["notes__search", "notes/search", "search"])("finds a tool as %s", (name) => {
  expect(toolsNamed(name, tools)).toEqual([search]);
});

test.each(["odd_abcdefghijkl", "odd:工具", "odd/工具", "odd__工具", "工具"])(
  "finds a tool whose name in lists has a hash as %s, and allows it",
  (name) => {
    expect(toolsNamed(name, tools)).toEqual([odd]);
    expect(unmatchedPatterns([name], named)).toEqual([]);
  },
);

test("finds all tools with a name that several servers use", () => {
  expect(toolsNamed("read", tools)).toEqual([tools[1], tools[3]]);
  expect(toolsNamed("notes:search", tools)).toEqual([search, imitation]);
  expect(toolsNamed("nothing", tools)).toEqual([]);
});

test.each(["notes__*", "notes:sea*", "no*/search", "search", "*", "*:search", "s*"])("%s allows a tool", (pattern) => {
  expect(isAllowed(pattern, search, named)).toBe(true);
});

test.each(["n*", "note*h", "notes", "*notes*search", "files:*", ":search", "notes:"])(
  "%s does not allow a tool by the name of its server",
  (pattern) => {
    expect(isAllowed(pattern, search, named)).toBe(false);
  },
);

test.each(["my__db__drop", "my__db:drop", "my__db/*", "my__db__*"])(
  "allows with a server whose name has a mark: %s",
  (pattern) => {
    expect(tools.filter((tool) => isAllowed(pattern, tool, named))).toEqual([drop]);
  },
);

test.each([":", "__", "/"])(
  "a text before %s is a server, and not a part of the name of a tool, if there is one",
  (mark) => {
    const pattern = `notes${mark}search`;
    const other = { name: "other__x", server: "other", tool: { name: pattern } };
    const all = { ...named, tools: [...tools, other] };
    expect(all.tools.filter((tool) => isAllowed(pattern, tool, all))).toEqual([search]);
    expect(patternTools(pattern, { tools: [other], servers: ["other", "notes"] })).toEqual([
      { server: "notes", tool: "search" },
    ]);
    expect(isAllowed(pattern, other, { tools: [other], servers: ["other"] })).toBe(true);
  },
);

test("a name with a wildcard allows no other tool of its server", () => {
  const wildcard = entry("odd", "*", "odd_x_abcdefghijkl");
  expect(patternTools(wildcard.name, { tools: [wildcard], servers: ["odd"] })).toEqual([{ tool: wildcard.name }]);
});

test("reports each pattern that matches no tool, with a similar name", () => {
  expect(unmatchedPatterns(["notes:serch", "search", "mail__red"], named)).toEqual([
    '--allow "notes:serch" matches no tool. Did you mean "notes:search"?',
    '--allow "mail__red" matches no tool. Did you mean "mail__read"?',
  ]);
});

test.each([
  ["notes__serch", 'Did you mean "notes__search"?'],
  ["serch", 'Did you mean "search"?'],
  ["notes/serch", 'Did you mean "notes/search"?'],
  ["zzzzzzzz", "Available: notes__search"],
])("the hint for the unknown name %s is %s", (name, hint) => {
  expect(similarTool(name, tools)).toContain(hint);
});
