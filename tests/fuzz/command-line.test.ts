import fc from "fast-check";
import { expect } from "vitest";
import { readArguments } from "../../packages/cli/src/commands/arguments/arguments.ts";
import { UsageError } from "../../packages/cli/src/terminal/io.ts";
import { JsonSyntaxError, parseJsonWithComments } from "../../packages/cli/src/terminal/json.ts";
import { readChat } from "../../packages/cli/src/commands/testing/read-command.ts";
import { ConfigError } from "../../packages/config/src/config-error.ts";
import { expandTarget } from "../../packages/config/src/expand.ts";
import type { ConfiguredServer } from "../../packages/config/src/model.ts";
import { parseValue } from "../../packages/config/src/values.ts";
import { wrap } from "../../packages/cli/src/terminal/text.ts";
import { printable } from "../../packages/mcparley/src/rpc/printable.ts";
import { toolArguments } from "../../packages/cli/src/commands/arguments/tool-arguments.ts";
import { readServeOptions } from "../../packages/cli/src/serve/serve-options.ts";
import { growingOf, textOf } from "./arbitraries/bytes.ts";
import { jsonValue, mostly } from "./arbitraries/messages.ts";
import { holds } from "./holds.ts";
import { expectLinearTime } from "../support/linear-time.ts";
import { onlyOwnErrors } from "./own-errors.ts";

const jsonWords = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"a"',
  '"',
  "\\",
  "\\u0061",
  "1",
  "-1.5e3",
  "true",
  "null",
  "//",
  "/*",
  "*/",
  "\n",
  " ",
  "\uFEFF",
  '"__proto__"',
];

holds(
  "JSON with comments: any text is read or rejected with a position, and JSON is read like JSON.parse",
  fc.oneof(
    textOf(...jsonWords),
    jsonValue.map((value) => JSON.stringify(value, undefined, 1)),
  ),
  async (text) => {
    const read = await onlyOwnErrors(() => parseJsonWithComments(text), JsonSyntaxError);
    let plain: { value: unknown } | undefined;
    try {
      plain = { value: JSON.parse(text) as unknown };
    } catch {}
    if (plain) expect("value" in read && read.value.value).toEqual(plain.value);
    if ("error" in read) expect((read.error as JsonSyntaxError).line).toBeGreaterThan(0);
  },
);

holds(
  "JSON with comments: read in linear time",
  growingOf(...jsonWords, '"a":', "[[", '{"a":{', "1,", "[1,", ",\n"),
  (growing) => expectLinearTime(growing, (text) => onlyOwnErrors(() => parseJsonWithComments(text), JsonSyntaxError)),
  { runs: 10 },
);

const argumentWords = ["a=", "b:=", "=", ":", "@-", "@", "@x", "{}", "[1]", "1", "x", "__proto__=", "a.b="];
const sources = { file: async (name: string) => `file ${name}`, stdin: async () => "stdin" };
const property = mostly(
  fc.constantFrom<unknown>(
    { type: "string" },
    { type: "integer" },
    { type: "array", items: { type: "number" } },
    { $ref: "#/$defs/x" },
    { anyOf: [{ type: "null" }, { type: "object" }] },
    { enum: [1, "a"] },
  ),
);
const inputSchema = fc.record(
  {
    type: fc.constant("object"),
    properties: mostly(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), property)),
    required: mostly(fc.constant(["a"])),
    additionalProperties: mostly(fc.boolean()),
    $defs: mostly(fc.constantFrom<unknown>({ x: { $ref: "#/$defs/x" } }, { x: { type: "boolean" } })),
  },
  { requiredKeys: ["type"] },
);

/** The names of the arguments in a word: the members of a JSON object, or the name before "=" or ":=". */
function keysOf(word: string): string[] {
  return /^\s*\{/.test(word) ? Object.keys(JSON.parse(word)) : [word.slice(0, word.indexOf("=")).replace(/:$/, "")];
}

holds(
  "arguments: any words are arguments of any tool, or rejected",
  fc.tuple(fc.array(textOf(...argumentWords), { maxLength: 4 }), inputSchema),
  async ([words, schema]) => {
    const read = await onlyOwnErrors(
      async () => toolArguments({ name: "x", inputSchema: schema }, await readArguments(words, sources)),
      UsageError,
    );
    if ("error" in read) return;
    const keys = new Set(words.flatMap(keysOf));
    expect(new Set(Object.keys(read.value))).toEqual(keys);
  },
);

const optionWords = [
  "--json",
  "--timeout",
  "--timeout=",
  "5s",
  "-H",
  "--header=",
  "A: b",
  "-e",
  "A=b",
  "--answer",
  "--",
  "--nope",
  "-",
  "--yes=1",
  "-yv",
  "call",
  "--log-level",
  "debug",
  "--port",
  "--stdio",
  "--host",
  "--path",
  "-p",
  "--no-watch",
  "--watch",
  "-ph",
];
const commandLine = fc.array(
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...optionWords) }, fc.string({ maxLength: 5 })),
  { maxLength: 8 },
);

holds("command lines: any words are parsed, or rejected with a cure", commandLine, async (words) => {
  for (const read of [readChat, readServeOptions]) {
    const understood = await onlyOwnErrors(() => read(words), UsageError);
    if ("error" in understood) expect(understood.error.message).not.toBe("");
  }
});

const referenceWords = ["${", "}", "$", "{", "env:HOME", "A", ":-", "workspaceFolder", "${A}", "${env:", "input:x"];
const place = { host: "mcparley", name: "x", scope: "project", file: "/w/mcp.json", line: 1, folder: "/w" } as const;
const position = { line: 1, column: 1 };

/** Expands a text as the program of a server. */
function expandText(text: string): Promise<unknown> {
  const command = parseValue(text, "dollar-brace");
  const server: ConfiguredServer = {
    ...place,
    target: { kind: "command", command, args: [], env: new Map() },
    isDisabled: false,
    disabledBy: undefined,
    problems: [],
    positionOf: () => position,
    rawEntry: () => ({ command: text }),
  };
  return expandTarget(server, { env: { HOME: "/h", A: "${B}" }, home: "/h" });
}

holds(
  "references in settings: any text is resolved or rejected, in linear time",
  fc.tuple(textOf(...referenceWords), growingOf(...referenceWords)),
  async ([text, growing]) => {
    await onlyOwnErrors(() => expandText(text), ConfigError);
    await expectLinearTime(growing, (long) => onlyOwnErrors(() => expandText(long), ConfigError));
  },
  { runs: 10 },
);

const terminalWords = [
  "\u001b[31m",
  "\u001b]0;",
  "\u0007",
  "\n",
  "\r",
  "\u009b",
  " ",
  "word",
  "日本",
  "\u200b",
  "\u202e",
  "👩‍👩‍👧",
];

holds(
  "terminal: text of a server is shown without control characters, in linear time",
  fc.tuple(textOf(...terminalWords), growingOf(...terminalWords)),
  async ([text, growing]) => {
    // oxlint-disable-next-line no-control-regex -- these are what must not arrive
    expect(printable(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    await expectLinearTime(growing, (long) => wrap(printable(long), 80));
  },
  { runs: 10 },
);
