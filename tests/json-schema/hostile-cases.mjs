// @ts-check

/**
 * A schema and a value that are expensive to validate, although the value is within the default limits of a request: 4 MiB, 100,000
 * properties and items, 64 levels.
 *
 * @typedef {object} HostileCase
 * @property {string} name
 * @property {import("../../packages/mcparley/src/schema/schema.ts").JsonSchema} schema
 * @property {() => unknown} value Creates the value.
 * @property {boolean} valid The verdict of the specification.
 */

/** @type {readonly HostileCase[]} */
export const hostileCases = [
  {
    name: "items with 30 alternatives",
    schema: { items: { oneOf: times(30, (kind) => alternative(`kind${kind}`)) } },
    value: () => times(24_000, (index) => ({ kind: "none", id: index })),
    valid: false,
  },
  {
    name: "uniqueItems with 99,000 numbers",
    schema: { uniqueItems: true },
    value: () => times(99_000, (index) => index),
    valid: true,
  },
  {
    name: "uniqueItems with 45,000 objects",
    schema: { uniqueItems: true },
    value: () => times(45_000, (index) => ({ id: `${index}` })),
    valid: true,
  },
  {
    name: "uniqueItems at each level of nested arrays",
    schema: { uniqueItems: true, items: { $ref: "#" } },
    value: () => nestedPairs(15),
    valid: true,
  },
  {
    name: "recursive alternatives and 60 levels",
    schema: {
      anyOf: times(2, (index) => ({ properties: { next: { $ref: "#" } }, required: ["next", `none${index}`] })),
    },
    value: () => nested(60),
    valid: false,
  },
  {
    name: "references that double 40 times",
    schema: {
      $ref: "#/$defs/level0",
      $defs: Object.fromEntries([
        ...times(40, (level) => [`level${level}`, { allOf: times(2, () => ({ $ref: `#/$defs/level${level + 1}` })) }]),
        ["level40", { type: "number" }],
      ]),
    },
    value: () => 1,
    valid: true,
  },
  {
    name: "recursive schema and 60 levels",
    schema: { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false },
    value: () => nested(60),
    valid: true,
  },
  {
    name: "object with 99,000 properties",
    schema: { additionalProperties: { type: "integer" }, propertyNames: { maxLength: 20 }, minProperties: 1 },
    value: () => wide(99_000),
    valid: true,
  },
  {
    name: "object with 99,000 invalid properties",
    schema: { additionalProperties: { type: "string", minLength: 1 } },
    value: () => wide(99_000),
    valid: false,
  },
  {
    name: "patternProperties with 20 patterns and 50,000 properties",
    schema: { patternProperties: Object.fromEntries(times(20, (index) => [`^key.*${index}$`, { type: "integer" }])) },
    value: () => wide(50_000),
    valid: true,
  },
  {
    name: "unevaluatedProperties with 50,000 properties",
    schema: {
      anyOf: times(10, (index) => ({ patternProperties: { [`^key.*${index}$`]: { type: "integer" } } })),
      unevaluatedProperties: false,
    },
    value: () => wide(50_000),
    valid: true,
  },
  {
    name: "unevaluatedItems with nested alternatives",
    schema: {
      items: {
        anyOf: times(10, () => ({ prefixItems: [{ type: "integer" }] })),
        unevaluatedItems: false,
      },
    },
    value: () => times(45_000, () => [1]),
    valid: true,
  },
  {
    name: "string of 4 MB with maxLength",
    schema: { type: "string", minLength: 1, maxLength: 10 },
    value: () => "é".repeat(2_000_000),
    valid: false,
  },
  {
    name: "string of 4 MB with a pattern",
    schema: { type: "string", pattern: "^[a-z]*$" },
    value: () => "a".repeat(4_000_000),
    valid: true,
  },
  {
    name: "enum of 200 arrays of 450 numbers",
    schema: { items: { enum: times(200, (index) => [...times(450, (item) => item), index]) } },
    value: () => times(200, () => [...times(450, (item) => item), "none"]),
    valid: false,
  },
  {
    name: "1,000 nested alternatives for each of 5,000 items",
    schema: { items: anyOfLevels(3) },
    value: () => times(5_000, () => "none"),
    valid: false,
  },
  {
    name: "contains for 99,000 items",
    schema: { contains: { anyOf: times(10, (index) => ({ const: `none${index}` })) } },
    value: () => times(99_000, (index) => index),
    valid: false,
  },
  {
    name: "contains with minContains and maxContains",
    schema: { contains: { type: "integer" }, minContains: 99_000, maxContains: 99_000 },
    value: () => times(99_000, (index) => index),
    valid: true,
  },
  ...[
    {
      format: "regex",
      name: "nested quantifiers",
      text: () => `${"(".repeat(1_000_000)}a${")*".repeat(1_000_000)}`,
      valid: true,
    },
    { format: "regex", name: "groups within the budget", text: () => "(a)*".repeat(80_000), valid: true },
    { format: "regex", name: "classes within the budget", text: () => "[a-z]".repeat(66_000), valid: true },
    { format: "uri-template", name: "expressions within the budget", text: () => "{a}".repeat(330_000), valid: true },
    { format: "uri", name: "escapes", text: () => `a:${"%41".repeat(1_300_000)}`, valid: true },
    { format: "json-pointer", name: "steps", text: () => "/~0".repeat(1_300_000), valid: true },
    { format: "email", name: "atoms", text: () => `${"a.".repeat(2_000_000)}a@b.c`, valid: false },
    { format: "duration", name: "digits", text: () => `P${"1".repeat(4_000_000)}`, valid: false },
    { format: "date-time", name: "digits", text: () => `2026-01-01T00:00:00.${"1".repeat(4_000_000)}Z`, valid: true },
  ].map(({ format, name, text, valid }) => ({
    name: `format ${format}: ${name}`,
    schema: { format },
    value: text,
    valid,
  })),
];

/** @param {string} kind */
function alternative(kind) {
  return { type: "object", properties: { kind: { const: kind }, id: { type: "integer" } }, required: ["kind"] };
}

/** Returns alternatives of alternatives, ten at each level. @param {number} levels @returns {object} */
function anyOfLevels(levels) {
  return { anyOf: times(10, (index) => (levels === 1 ? { const: index } : anyOfLevels(levels - 1))) };
}

/** @param {number} levels @returns {object} */
function nested(levels) {
  let value = {};
  for (let level = 1; level < levels; level++) value = { next: value };
  return value;
}

/** @param {number} size */
function wide(size) {
  return Object.fromEntries(times(size, (index) => [`key${index}`, index]));
}

/**
 * Returns a binary tree of arrays. Two subtrees of one array differ only in their last leaf, so that comparing them visits all leaves.
 *
 * @param {number} levels
 * @param {number} last
 * @returns {unknown[]}
 */
function nestedPairs(levels, last = 1) {
  if (levels === 1) return [-1, last];
  return [nestedPairs(levels - 1, 2 * last), nestedPairs(levels - 1, 2 * last + 1)];
}

/** @template T @param {number} count @param {(index: number) => T} create @returns {T[]} */
function times(count, create) {
  return Array.from({ length: count }, (_, index) => create(index));
}
