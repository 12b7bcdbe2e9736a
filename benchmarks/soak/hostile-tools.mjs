// @ts-check
import { tool } from "mcparley/server";
import { z } from "zod";
import { hostileCases } from "../../tests/json-schema/hostile-cases.mjs";

/** @import { Tool } from "mcparley/server" */

/**
 * A tool and arguments that are within the limits of a request and expensive to validate.
 *
 * @typedef {object} HostileCall
 * @property {string} name
 * @property {Tool<any>} tool
 * @property {() => unknown} value The argument `value`.
 * @property {boolean} valid Whether the schema accepts the arguments. A refusal as too complex is right in both cases.
 */

const answer = () => "accepted";

/** @type {readonly HostileCall[]} */
const ofJsonSchema = hostileCases.map(({ name, schema, value, valid }, index) => {
  // The schema has an id, so that its references stay inside it.
  const inner = { $id: `https://soak.example/case${index}`, .../** @type {object} */ (schema) };
  const input = { type: /** @type {const} */ ("object"), properties: { value: inner }, required: ["value"] };
  return { name: `json${index}`, tool: tool({ title: name, input, call: answer }), value, valid };
});

const thirty = z.union(alternatives());
/** @type {z.ZodType} */
const level = z.lazy(() =>
  z.union([
    z.object({ next: level.optional(), none0: z.string() }),
    z.object({ next: level.optional(), none1: z.string() }),
  ]),
);

/** @type {readonly HostileCall[]} */
const ofZod = [
  {
    name: "zodUnion",
    tool: tool({ title: "array of a union of 30 objects", input: z.object({ value: z.array(thirty) }), call: answer }),
    value: () => Array.from({ length: 24_000 }, (_, id) => ({ kind: "none", id })),
    valid: false,
  },
  {
    name: "zodRecursive",
    tool: tool({ title: "recursive union", input: z.object({ value: level }), call: answer }),
    value: () => nested(60),
    valid: false,
  },
  {
    name: "zodRecord",
    tool: tool({ title: "record", input: z.object({ value: z.record(z.string(), z.string()) }), call: answer }),
    value: () => Object.fromEntries(Array.from({ length: 99_000 }, (_, index) => [`key${index}`, index])),
    valid: false,
  },
  {
    name: "zodPattern",
    tool: tool({ title: "pattern", input: z.object({ value: z.string().regex(/^[a-z]*$/) }), call: answer }),
    value: () => "a".repeat(4_000_000),
    valid: true,
  },
  {
    name: "zodStrict",
    tool: tool({ title: "strict object", input: z.object({ value: z.strictObject({}) }), call: answer }),
    value: () => Object.fromEntries(Array.from({ length: 99_000 }, (_, index) => [`key${index}`, index])),
    valid: false,
  },
];

export const hostileCalls = [...ofJsonSchema, ...ofZod];

/** @returns {[z.ZodObject, z.ZodObject, ...z.ZodObject[]]} */
function alternatives() {
  const all = Array.from({ length: 30 }, (_, index) =>
    z.object({ kind: z.literal(`kind${index}`), id: z.number().int() }),
  );
  return /** @type {any} */ (all);
}

/** @param {number} levels @returns {object} */
function nested(levels) {
  let value = {};
  for (let depth = 1; depth < levels; depth++) value = { next: value };
  return value;
}
