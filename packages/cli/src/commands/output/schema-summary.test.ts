import { expect, test } from "vitest";
import type { JsonObject, Tool } from "mcparley";
import { type ArgumentSummary, summarizeArguments } from "./schema-summary.ts";
import { showOffer } from "./show-list.ts";
import { styleFor } from "../../terminal/text.ts";

const view = { terminal: false, width: Infinity, style: styleFor(false, {}) };

const shown = (inputSchema: JsonObject, width = Infinity): string[] => {
  const tools = [{ name: "t", inputSchema } as Tool];
  return showOffer({ tools }, { ...view, width })
    .split("\n")
    .slice(2);
};
const factsOf = (property: JsonObject): string | undefined =>
  summarizeArguments({ type: "object", properties: { p: property } })[0]?.facts;

test("shows the fields of objects, of objects in arrays and behind references", () => {
  const place = {
    type: "object",
    properties: { city: { type: "string", description: "Its name" } },
    required: ["city"],
  };
  const schema = {
    type: "object",
    $defs: { place },
    properties: {
      from: { $ref: "#/$defs/place", description: "The start" },
      stops: { type: "array", items: { type: "object", properties: { at: place, minutes: { type: "integer" } } } },
      to: { anyOf: [place, { type: "null" }] },
    },
    required: ["from"],
  };
  expect(shown(schema)).toEqual([
    "    - from (object, required): The start",
    "      - city (string, required): Its name",
    "    - stops (object[])",
    "      - at (object)",
    "        - city (string, required): Its name",
    "      - minutes (integer)",
    "    - to (object | null)",
    "      - city (string, required): Its name",
  ]);
});

test("shows each kind of object that a union accepts", () => {
  const card = {
    type: "object",
    description: "By card",
    properties: { kind: { const: "card" }, number: { type: "string" } },
  };
  const cash = { type: "object", properties: { kind: { const: "cash" } } };
  expect(shown({ type: "object", properties: { pay: { oneOf: [card, cash] } } })).toEqual([
    "    - pay (object)",
    "      - alternative 1: By card",
    '        - kind ("card")',
    "        - number (string)",
    "      - alternative 2",
    '        - kind ("cash")',
  ]);
});

test.each([
  [{ anyOf: [{ const: "red" }, { const: "blue" }] }, '"red" | "blue"'],
  [{ oneOf: [{ const: "red", title: "Red" }, { const: 1 }, { type: "null" }] }, '"red" | 1 | null'],
  [{ anyOf: [{ enum: ["a", "b"] }, { type: "integer" }] }, '"a" | "b" | integer'],
  [
    {
      anyOf: [
        { type: "string", format: "email" },
        { type: "string", format: "uri" },
      ],
    },
    "string (email) | string (uri)",
  ],
  [{ type: "array", items: { anyOf: [{ const: "x" }, { const: "y" }] } }, '("x" | "y")[]'],
  [{ type: ["array", "null"], items: { type: "string" } }, "string[] | null"],
  [{ anyOf: [{ type: "string" }, {}] }, "any"],
  [{ anyOf: Array.from({ length: 9 }, (_, index) => ({ const: index })) }, "one of 9"],
  [{ allOf: [{ enum: ["a", "b"] }], default: "a" }, '"a" | "b", default "a"'],
  [{ type: "integer", minimum: 1, default: 2 }, "integer, at least 1, default 2"],
])("%j is shown as %s", (property, facts) => {
  expect(factsOf(property)).toBe(facts);
});

test("limits the depth and the number of fields of a recursive schema", () => {
  const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
  const node = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/node" }])),
  };
  const lines = shown({ $defs: { node }, ...node });
  expect(lines.length).toBeLessThan(450);
  expect(lines.join("\n")).toContain("30 more");
  const chain = {
    $defs: { list: { type: "object", properties: { next: { $ref: "#/$defs/list" } } } },
    $ref: "#/$defs/list",
  };
  const depths: number[] = [];
  const visit = (fields: readonly ArgumentSummary[], depth: number): void => {
    for (const field of fields) {
      depths.push(depth);
      visit(field.fields ?? [], depth + 1);
    }
  };
  visit(summarizeArguments({ ...chain, type: "object", properties: { next: chain } }), 1);
  expect(Math.max(...depths)).toBe(5);
});

test("wraps fields to the width of a terminal", () => {
  const deep = {
    type: "object",
    properties: { a_rather_long_name: { type: "string", description: "word ".repeat(30) } },
  };
  const lines = shown({ type: "object", properties: { outer: { type: "object", properties: { inner: deep } } } }, 40);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
});
