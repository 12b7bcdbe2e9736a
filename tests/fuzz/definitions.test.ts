import fc from "fast-check";
import { expect } from "vitest";
import { ProtocolError } from "../../packages/mcparley/src/rpc/errors.ts";
import { checkBudget } from "../../packages/mcparley/src/schema/budget.ts";
import { compileJsonSchema } from "../support/compile-json-schema.ts";
import { decodeHeaderValue, encodeHeaderValue } from "../../packages/mcparley/src/mcp/headers/header-values.ts";
import { mcpHeaders } from "../../packages/mcparley/src/mcp/headers/mirrored-headers.ts";
import { SchemaError } from "../../packages/mcparley/src/schema/schema.ts";
import { parseTemplate } from "../../packages/mcparley/src/schema/uri-template.ts";
import { cursorFor, readPosition } from "../../packages/mcparley/src/server/features/lists.ts";
import { coreOf, createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { sealOf } from "../../packages/mcparley/src/server/input/sealed-state.ts";
import { fakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { growingOf, textOf } from "./arbitraries/bytes.ts";
import { jsonValue, mostly } from "./arbitraries/messages.ts";
import { holds } from "./holds.ts";
import { expectLinearTime, grown } from "../support/linear-time.ts";
import { onlyOwnErrors } from "./own-errors.ts";

const templateWords = [
  "{",
  "}",
  "{x}",
  "{+x}",
  "{#x}",
  "{/x*}",
  "{?x,y}",
  "{&y*}",
  "{;x}",
  "{.x}",
  "{x:3}",
  "{x,y}",
  "/",
  "?",
  "&",
  "=",
  ",",
  ".",
  "a",
  "%2F",
  "%",
];
const uriWords = ["a", "/", "?", "&", "=", ",", ".", ";", "#", "%2F", "%", "%C3", "x=", "y="];

holds(
  "URI templates: any text is a template that matches without an error, or rejected with the reason",
  fc.tuple(textOf(...templateWords), textOf(...uriWords)),
  async ([template, uri]) => {
    const parsed = await onlyOwnErrors(() => parseTemplate(template), SyntaxError);
    if ("error" in parsed) expect(parsed.error.message).toMatch(/^Invalid URI template at position \d+: /);
    if ("error" in parsed) return;
    const found = parsed.value.match(uri);
    if (found === undefined) return;
    for (const name of Object.keys(found)) expect(parsed.value.variables).toContain(name);
  },
);

const templates = [
  "{x}",
  "{+x}",
  "{+x}{+y}",
  "{x}/{y}-{+z}",
  "a{?x,y}",
  "{/x*}{?y*}",
  "{x,y,x}",
  "{;x*,y}{#z}",
  "{+a}{+b}{+c}{+d}{+e}",
  "{.x*}{/y*}{;z*}{?w*}",
];

holds(
  "URI templates match in linear time",
  fc.tuple(fc.constantFrom(...templates), growingOf(...uriWords)),
  async ([template, growing]) => {
    const parsed = parseTemplate(template);
    // Up to the longest URI that is looked at.
    await expectLinearTime(growing, (uri) => parsed.match(uri.slice(0, 65_536)));
  },
  { runs: 10 },
);

holds(
  "URI templates: parsed in linear time up to the maximum length",
  growingOf(...templateWords),
  (growing) => expectLinearTime(growing, (text) => onlyOwnErrors(() => parseTemplate(text), SyntaxError)),
  { runs: 20 },
);

holds(
  "cursors: any text is a position, or rejected",
  fc.oneof(
    textOf("YWZ0", "=", "after:"),
    fc.base64String(),
    fc.bigInt({ min: 0n, max: 10n ** 30n }).map((position) => cursorFor(String(position) as never)),
  ),
  async (cursor) => {
    const read = await onlyOwnErrors(() => readPosition(cursor), ProtocolError);
    if ("value" in read) expect(Number.isSafeInteger(read.value)).toBe(true);
  },
);

const server = createServer({
  name: "x",
  version: "1.0.0",
  stateKeys: [new Uint8Array(32)],
  limits: { stateTtl: 1_000 },
  clock: fakeClock(),
});
const seal = sealOf(coreOf(server));
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("");

const mine = (): Promise<string> => Promise.resolve("mine");
const yours = (): Promise<string> => Promise.resolve("yours");

holds(
  "sealed state: no text opens that was not sealed for the same purpose",
  fc.oneof(textOf("A", "-", "_", "=", "+", "/"), fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 200 })),
  async (state) => {
    const opened = await onlyOwnErrors(() => seal.open(state, mine), ProtocolError);
    expect(opened).toHaveProperty("error");
  },
);

holds(
  "sealed state: opens unchanged, and not after a change or for another caller",
  fc.tuple(jsonValue, fc.nat(), fc.constantFrom(...alphabet)),
  async ([value, at, character]) => {
    const state = await seal.seal(value, "mine");
    expect(await seal.open(state, mine)).toEqual(value);
    expect(await onlyOwnErrors(() => seal.open(state, yours), ProtocolError)).toHaveProperty("error");
    const index = at % state.length;
    const changed = state.slice(0, index) + character + state.slice(index + 1);
    if (changed === state) return;
    expect(await onlyOwnErrors(() => seal.open(changed, mine), ProtocolError)).toHaveProperty("error");
  },
);

const headerWords = ["=?base64?", "?=", "YQ==", "=", " ", "\t", "é", "a"];

holds(
  "mirrored headers: any header is decoded or rejected in linear time, and any encoded text is decoded again",
  fc.tuple(textOf(...headerWords), growingOf(...headerWords)),
  async ([text, growing]) => {
    expect(["string", "undefined"]).toContain(typeof decodeHeaderValue(text));
    const whole = text.replaceAll(/\p{Surrogate}/gu, "");
    expect(decodeHeaderValue(encodeHeaderValue(whole))).toBe(whole);
    await expectLinearTime(growing, (header) => [decodeHeaderValue(header), encodeHeaderValue(header)]);
  },
  { runs: 20 },
);

const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.boolean(),
    fc.record(
      {
        type: mostly(
          fc.constantFrom<unknown>("object", "array", "string", "integer", "boolean", ["string", "null"], "nope"),
        ),
        properties: mostly(fc.dictionary(fc.constantFrom("a", "b", "__proto__", "constructor"), tie("schema"))),
        items: mostly(tie("schema")),
        anyOf: mostly(fc.array(tie("schema"), { maxLength: 2 })),
        not: mostly(tie("schema")),
        $ref: mostly(fc.constantFrom("#", "#/properties/a", "#/$defs/x", "https://example.com/x", "#nope")),
        $defs: mostly(fc.dictionary(fc.constantFrom("x", "y"), tie("schema"))),
        pattern: mostly(fc.constantFrom("^a", "(", "[a-z]+$", "\\p{L}")),
        enum: mostly(fc.array(jsonValue, { maxLength: 3 })),
        required: mostly(fc.array(fc.constantFrom("a", "b"), { maxLength: 2 })),
        minimum: mostly(fc.integer()),
        maxLength: mostly(fc.nat()),
        format: mostly(fc.constantFrom("uri", "email", "date-time", "nope")),
        additionalProperties: mostly(tie("schema")),
        "x-mcp-header": mostly(fc.constantFrom("Region", "a b", "")),
      },
      { requiredKeys: [] },
    ),
  ),
}));

holds(
  "schemas: any value is a schema that validates any value, or rejected with the reason",
  fc.tuple(mostly(schema), jsonValue),
  async ([given, value]) => {
    if (typeof given !== "object" || given === null || Array.isArray(given)) return;
    await onlyOwnErrors(() => mcpHeaders(given as never), SchemaError);
    const compiled = await onlyOwnErrors(() => compileJsonSchema(given as never), SchemaError);
    if ("value" in compiled)
      expect(compiled.value(value)).toSatisfy(
        (outcome) => "value" in (outcome as object) || "issues" in (outcome as object),
      );
  },
  { runs: 10 },
);

holds(
  "budgets: measured in linear time, however deep or wide the value",
  growingOf("[", "[]", "[],", '{"a":', "1,", "{},"),
  (growing) => expectLinearTime(growing, (value) => checkBudget(value), { prepare: nested }),
  { runs: 20 },
);

/** A value with the brackets of a text, well-formed or not. */
function nested(text: string): unknown {
  const stack: unknown[][] = [[]];
  for (const character of text) {
    const top = stack.at(-1)!;
    if (character === "[" || character === "{") {
      const inner: unknown[] = [];
      top.push(inner);
      stack.push(inner);
    } else if ((character === "]" || character === "}") && stack.length > 1) stack.pop();
    else top.push(character);
  }
  return stack[0];
}

holds(
  "cursors and sealed state: rejected in linear time",
  growingOf("A", "=", "YWZ0ZXI6", "-"),
  async (growing) => {
    expect(grown(growing, 10)).not.toBe("");
    await expectLinearTime(growing, async (text) => {
      await onlyOwnErrors(() => readPosition(text), ProtocolError);
      await onlyOwnErrors(() => seal.open(text, mine), ProtocolError);
    });
  },
  { runs: 20 },
);
