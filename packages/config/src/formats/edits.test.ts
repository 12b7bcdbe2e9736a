import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Change, type ConfigFormat, SyntaxProblem, UnsafeEdit, isIntended, valueAt } from "./format.ts";
import { jsonFormat } from "./json.ts";
import { tomlFormat } from "./toml.ts";
import { yamlFormat } from "./yaml.ts";

function edit(format: ConfigFormat, text: string, path: Change["path"], value: unknown): string {
  const edited = format.edit(text, { path, value });
  expect(isIntended(format.parse(text).value, { path, value }, format.parse(edited).value)).toBe(true);
  return edited;
}

const entry = { command: "node", args: ["server.js"] };

describe("JSON", () => {
  const commented = `{
  // the servers
  "servers": {
    "a": { "url": "https://a.example" }, // about a
    // about b
    "b": { "url": "https://b.example" } // also about b
  },
  /* the end */
}
`;

  test("a new member follows the comment of the last line", () => {
    expect(edit(jsonFormat, commented, ["servers", "c"], { url: "https://c.example" })).toBe(
      commented.replace(
        `" } // also about b\n`,
        `" }, // also about b\n    "c": {\n      "url": "https://c.example"\n    }\n`,
      ),
    );
  });

  test("a removed member takes the comment of its line with it and leaves the others", () => {
    expect(edit(jsonFormat, commented, ["servers", "a"], undefined)).toBe(commented.replace(/ {4}"a".*\n/, ""));
    expect(edit(jsonFormat, commented, ["servers", "b"], undefined)).toBe(
      commented.replace(/ {4}"b".*\n/, "").replace("},", "}"),
    );
  });

  test("a member is replaced in place", () => {
    expect(edit(jsonFormat, commented, ["servers", "a", "url"], "https://new.example")).toBe(
      commented.replace("https://a.example", "https://new.example"),
    );
  });

  test("tabs, CRLF and the byte order mark are kept", () => {
    const text = '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n';
    expect(edit(jsonFormat, text, ["mcpServers", "b"], { url: "u" })).toBe(
      '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"b": {\r\n\t\t\t"url": "u"\r\n\t\t}\r\n\t}\r\n}\r\n',
    );
  });

  test.each([
    ["", '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ["{}", '{\n  "a": {\n    "b": 1\n  }\n}'],
    ['{"a":{"c":2}}', '{"a":{"c":2, "b": 1}}'],
    ['{ "a": { "c": 2, }, }', '{ "a": { "c": 2, "b": 1, }, }'],
    ["{ // note\n}", '{ // note\n  "a": {\n    "b": 1\n  }\n}'],
  ])("adds the missing objects to %j", (text, expected) => {
    expect(edit(jsonFormat, text, ["a", "b"], 1)).toBe(expected);
  });

  test("the indentation is that of the first line of a key, not of a text with a line separator", () => {
    expect(edit(jsonFormat, '{ "a": "\u2028   ",\n\t"b": 1\n}', ["c"], { d: 1 })).toBe(
      '{ "a": "\u2028   ",\n\t"b": 1,\n\t"c": {\n\t\t"d": 1\n\t}\n}',
    );
  });

  test("appends to an array", () => {
    expect(edit(jsonFormat, '{ "inputs": [{ "id": "a" }] }', ["inputs", 1], { id: "b" })).toBe(
      '{ "inputs": [{ "id": "a" }, {"id":"b"}] }',
    );
  });

  test("refuses a parent that is not an object", () => {
    expect(() => jsonFormat.edit('{ "a": 1 }', { path: ["a", "b"], value: 1 })).toThrow(UnsafeEdit);
  });
});

describe("JSON with comments anywhere", () => {
  const gap = fc.constantFrom("", "", " ", "\n", "\r\n", "\n  ", " /* c */ ", "/* c\n c */", " // c\n", "\n  // c\n  ");
  const item = fc.tuple(gap, gap, fc.constantFrom("1", "{}", '"x"', "[1, 2]", '{ "y": 1 }'), gap, gap);
  const object = fc.tuple(fc.array(item, { maxLength: 4 }), fc.boolean(), gap).map(([items, hasTrailingComma, end]) => {
    const members = items.map(([a, b, value, c, d], index) => `${a}"k${index}"${b}:${c}${value}${d}`);
    const comma = hasTrailingComma && items.length > 0 ? "," : "";
    return { text: `{${members.join(",")}${comma}${end}}`, size: items.length };
  });
  const commentsIn = (text: string): number => text.split(/\/\/|\/\*/).length;

  test("a new member changes nothing else and keeps all comments", () => {
    fc.assert(
      fc.property(object, gap, gap, ({ text }, before, after) => {
        const source = `${before}{"s":${text}}${after}`;
        expect(commentsIn(edit(jsonFormat, source, ["s", "new"], entry))).toBe(commentsIn(source));
      }),
      { numRuns: 500 },
    );
  });

  test("a replaced and a removed member change nothing else", () => {
    fc.assert(
      fc.property(object, fc.nat(3), ({ text, size }, index) => {
        fc.pre(index < size);
        const source = `{"s":${text}}`;
        expect(commentsIn(edit(jsonFormat, source, ["s", `k${index}`], entry))).toBe(commentsIn(source));
        edit(jsonFormat, source, ["s", `k${index}`], undefined);
      }),
      { numRuns: 500 },
    );
  });
});

describe("TOML", () => {
  const commented = `# the top
model = "x" # inline

[mcp_servers.a]
command = "node" # about a
args = [
  "one", # first
  "two",
]
# the environment
[mcp_servers.a.env]
KEY = """
[mcp_servers.fake]
"""

# about b
[mcp_servers."b.c"]
url = "https://b.example"

[tools]
web = true
`;

  test("a new server follows the last server", () => {
    expect(edit(tomlFormat, commented, ["mcp_servers", "new one"], { ...entry, env: { A: "b" } })).toBe(
      commented.replace(
        "\n\n[tools]",
        '\n\n[mcp_servers."new one"]\ncommand = "node"\nargs = ["server.js"]\n\n[mcp_servers."new one".env]\nA = "b"\n\n[tools]',
      ),
    );
  });

  test("a removed server takes its tables with it and leaves the comments of the others", () => {
    const after = edit(tomlFormat, commented, ["mcp_servers", "a"], undefined);
    expect(after).toBe(commented.replace(/\n\[mcp_servers\.a\][^]*?\n"""\n/, ""));
    expect(after).toContain('# about b\n[mcp_servers."b.c"]');
  });

  test("a member is replaced, added and removed in place", () => {
    const path = ["mcp_servers", "a"];
    expect(edit(tomlFormat, commented, [...path, "command"], "deno")).toBe(commented.replace('"node"', '"deno"'));
    expect(edit(tomlFormat, commented, [...path, "cwd"], "/tmp")).toBe(
      commented.replace('  "two",\n]\n', '  "two",\n]\ncwd = "/tmp"\n'),
    );
    expect(edit(tomlFormat, commented, [...path, "args"], undefined)).toBe(
      commented.replace(/args = \[[^]*?\n\]\n/, ""),
    );
  });

  test.each([
    [
      'mcp_servers = { a = { command = "x", n = 1.0 } }\n',
      'mcp_servers = { a = { command = "x", n = 1.0 }, b = { url = "u" } }\n',
    ],
    ['mcp_servers.a = { command = "x" }\n', 'mcp_servers.a = { command = "x" }\n\n[mcp_servers.b]\nurl = "u"\n'],
    ['[mcp_servers]\na.command = "x"\n', '[mcp_servers]\na.command = "x"\n\n[mcp_servers.b]\nurl = "u"\n'],
    ["[mcp_servers]\n\n[other]\nx = 1", '[mcp_servers]\n\n[mcp_servers.b]\nurl = "u"\n\n[other]\nx = 1'],
    ["x = 1", 'x = 1\n\n[mcp_servers.b]\nurl = "u"\n'],
    ["", '[mcp_servers.b]\nurl = "u"\n'],
    ["x = 1\r\n", 'x = 1\r\n\r\n[mcp_servers.b]\r\nurl = "u"\r\n'],
  ])("adds to %j", (text, expected) => {
    expect(edit(tomlFormat, text, ["mcp_servers", "b"], { url: "u" })).toBe(expected);
  });

  test.each([
    ['mcp_servers = { a = { command = "x" } }\n', "mcp_servers = {}\n"],
    ['mcp_servers.a = { command = "x" }\ny = 1\n', "y = 1\n"],
    ['[mcp_servers]\na.command = "x" # note\na.args = []\n# end\n', "[mcp_servers]\n# end\n"],
    ["[mcp_servers.\"a\"]\nx = '''\n[b]'''\n[b]\n", "[b]\n"],
  ])("removes from %j", (text, expected) => {
    expect(edit(tomlFormat, text, ["mcp_servers", "a"], undefined)).toBe(expected);
  });

  test("refuses an inline table with comments and an array of tables", () => {
    const commented = "mcp_servers.a = { args = [\n1, # one\n] }\n";
    expect(() => tomlFormat.edit(commented, { path: ["mcp_servers", "a", "cwd"], value: "x" })).toThrow(UnsafeEdit);
    expect(() => tomlFormat.edit("[[mcp_servers]]\n", { path: ["mcp_servers", "a"], value: {} })).toThrow(UnsafeEdit);
  });
});

describe("TOML and YAML with comments between the entries", () => {
  const gap = fc.constantFrom("", "", "\n", "# c\n", "\n# c\n", "\n\n# c\n# d\n\n", "  # c\n");
  const end = fc.constantFrom("", " # c", "   ");
  const toml = fc.constantFrom(
    (name: string, c: string) => `[s.${name}]${c}\nx = 1${c}\n`,
    (name: string, c: string) => `[s.${name}]\n# i\nx = [\n 1, # j\n]${c}\n\n[s.${name}.env]${c}\nA = "[s.no]"\n`,
    (name: string, c: string) => `[s.${name}.env]\nA = 1${c}\n`,
    (name: string, c: string) => `[s."${name}"]${c}\n`,
    (name: string, c: string) => `[s.${name}]\nx.y = { z = """\n# no\n""" }${c}\n`,
  );
  const yaml = fc.constantFrom(
    (name: string, c: string) => `  ${name}:${c}\n    x: 1${c}\n`,
    (name: string, c: string) => `  "${name}":\n    # i\n    x: |\n      # no\n      text\n    y: [1, 2]${c}\n`,
    (name: string, c: string) => `  ${name}: {}${c}\n`,
    (name: string, c: string) => `  ${name}:\n    x:\n    - 1\n    - y: 2${c}\n`,
    (name: string) => `  ${name}: >-\n    folded\n\n    text\n`,
  );
  const indentedGap = gap.map((text) => text.replaceAll("#", "  #"));

  test.each([
    { format: tomlFormat, part: toml, gap, head: "" },
    { format: yamlFormat, part: yaml, gap: indentedGap, head: "s:\n" },
  ])("entries are added, replaced and removed", ({ format, part, gap, head }) => {
    const parts = fc.array(fc.tuple(gap, part, end), { minLength: 1, maxLength: 4 });
    const tail = fc.constantFrom("", format === tomlFormat ? "\n[z]\ny = 2\n" : "z: 2\n");
    fc.assert(
      fc.property(parts, gap, tail, fc.nat(3), (entries, last, tail, index) => {
        fc.pre(index < entries.length);
        const body = entries.map(([before, text, c], at) => before + text(`k${at}`, c)).join("");
        const source = `${head}${body}${last}${tail}`;
        const added = edit(format, source, ["s", "new"], entry);
        expect(edit(format, added, ["s", "new"], undefined).replaceAll(/\s+/g, "")).toBe(source.replaceAll(/\s+/g, ""));
        edit(format, edit(format, source, ["s", `k${index}`], undefined), ["s", `k${index}`], entry);
      }),
      { numRuns: 500 },
    );
  });
});

describe("YAML", () => {
  const commented = `# the top
GOOSE_MODEL: x   # aligned

extensions:
  # about a
  a:
    type: stdio
    args: ["-y"]   # flow
    cmd: >-
      folded
      text
  b: # about b
    type: builtin

last: 1
`;

  test("a new entry follows the last entry, and all other lines stay", () => {
    expect(edit(yamlFormat, commented, ["extensions", "c"], { type: "stdio", args: [], envs: { A: "yes" } })).toBe(
      commented.replace(
        "    type: builtin\n",
        '    type: builtin\n  c:\n    type: stdio\n    args: []\n    envs:\n      A: "yes"\n'.replace('"yes"', "yes"),
      ),
    );
  });

  test("a removed entry leaves the comments of the others", () => {
    expect(edit(yamlFormat, commented, ["extensions", "a"], undefined)).toBe(
      commented.replace(/ {2}a:\n[^]*? {6}text\n/, ""),
    );
    expect(edit(yamlFormat, commented, ["extensions", "b"], undefined)).toBe(
      commented.replace("  b: # about b\n    type: builtin\n", ""),
    );
  });

  test("a member is replaced in place", () => {
    const path = ["extensions", "a"];
    expect(edit(yamlFormat, commented, [...path, "type"], "sse")).toBe(commented.replace("stdio", "sse"));
    expect(edit(yamlFormat, commented, [...path, "cmd"], "x")).toBe(
      commented.replace(/cmd: >-\n.*\n.*text\n/, "cmd: x\n"),
    );
    expect(edit(yamlFormat, commented, ["GOOSE_MODEL"], "no: y")).toBe(commented.replace("x   #", '"no: y"   #'));
  });

  test.each([
    ["", "e:\n  a:\n    x: 1\n"],
    ["e:\n", "e:\n  a:\n    x: 1\n"],
    ["e: {} # none\nf: 1\n", "e: # none\n  a:\n    x: 1\nf: 1\n"],
    ["f: 1", "f: 1\ne:\n  a:\n    x: 1\n"],
    ["e:\r\n    b: 2\r\n", "e:\r\n    b: 2\r\n    a:\r\n      x: 1\r\n"],
  ])("adds to %j", (text, expected) => {
    const edited = edit(yamlFormat, text, ["e", "a"], { x: 1 });
    expect(edited).toBe(expected);
  });

  test("an empty table keeps its comments", () => {
    expect(edit(yamlFormat, "e: # none\n  # note\n  a: 1\nf: 2\n", ["e", "a"], undefined)).toBe(
      "e: {} # none\n  # note\nf: 2\n",
    );
  });

  test.each(["\u2028", "\u00A0", "\u3000", "\uFEFF"])("a line that has only %j belongs to the text", (blank) => {
    for (const value of [`x\n      ${blank}`, `|\n      x\n      ${blank}`, `|\n      ${blank}`]) {
      const text = `e:\n  a:\n    x: ${value}\n`;
      expect(edit(yamlFormat, `${text}  b: 1\n`, ["e", "a"], undefined)).toBe("e:\n  b: 1\n");
      expect(edit(yamlFormat, text.slice(0, -1), ["e", "b"], 1)).toBe(`${text}  b: 1\n`);
    }
  });

  test("refuses a map in braces", () => {
    expect(() => yamlFormat.edit("e: { b: 1 }\n", { path: ["e", "a"], value: 1 })).toThrow(UnsafeEdit);
  });
});

describe.each([
  ["JSON", jsonFormat, '{\n  "s": {\n    "other": {\n      "x": 1\n    }\n  }\n}\n'],
  ["TOML", tomlFormat, "# c\n[s.other]\nx = 1\n\n[z]\ny = 2\n"],
  ["YAML", yamlFormat, "# c\ns:\n  other:\n    x: 1\nz: 2 # c\n"],
])("%s: each text", (_title, format, text) => {
  // JavaScript counts these as white space or as the end of a line. The formats count some of them as text.
  const blanks = [
    "\u2028",
    "\u2029",
    "\u0085",
    "\u00A0",
    "\uFEFF",
    "\u3000",
    "\v",
    "\f",
    "\r",
    "\r\n",
    "\t",
    " ",
    "\n",
  ];
  const grapheme = fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 });
  const string = fc.string({ unit: fc.oneof({ weight: 3, arbitrary: grapheme }, fc.constantFrom(...blanks)) });
  const leaf = fc.oneof(string, fc.boolean());
  const members = fc.dictionary(string, fc.oneof(leaf, fc.array(string)), { maxKeys: 4 });

  test.each(["__proto__", "constructor", "a.b", 'a"b', "a\nb", " ", "é", "1", "null", "#", "[x]"])(
    "is the same after the entry %j was added and removed",
    (name) => {
      const added = edit(format, text, ["s", name], entry);
      expect(Object.keys(valueAt(format.parse(added).value, ["s"]) as object)).toContain(name);
      expect(edit(format, added, ["s", name], undefined)).toBe(text);
    },
  );

  test.each(blanks)("is the same after texts with the blank %j were added, replaced and removed", (blank) => {
    for (const name of [
      blank,
      `a${blank}b`,
      `a${blank}`,
      `${blank}a`,
      `a${blank}  "b"`,
      `a${blank}${blank}\n- b: c`,
      `${blank}\n`,
      `${blank}\n${blank}\na\n`,
    ]) {
      const added = edit(format, text, ["s", name], { x: name, y: [name], [name]: "z" });
      const replaced = edit(format, edit(format, added, ["s", name, "x"], `${name}!`), ["s", name, "x"], name);
      expect(edit(format, replaced, ["s", name], undefined)).toBe(text);
    }
  });

  test("is the same after an entry was added and removed, whatever its name and members", () => {
    fc.assert(
      fc.property(string, members, (name, value) => {
        fc.pre(name !== "other");
        const added = edit(format, text, ["s", name], value);
        expect(edit(format, added, ["s", name], undefined)).toBe(text);
      }),
    );
  });

  test("is parsed or refused with a problem that has no text of the file", () => {
    const noise = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(
          fc.constantFrom("{", "}", "[", "]", '"', "'", ":", "=", ",", "\n", "a", "#", "- ", "&a", "*a", "//", "/*"),
          { maxLength: 60 },
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(noise, (source) => {
        try {
          format.parse(source);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxProblem);
        }
        try {
          format.parse(`${source} sk-secret-7 ${source}`);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxProblem);
          expect((error as Error).message).not.toContain("sk-secret");
        }
      }),
      { numRuns: 500 },
    );
  });
});
