// @ts-check

/** A schema of usual tool arguments. @typedef {{ schema: Record<string, unknown>, valid: unknown, invalid: unknown }} ValidationCase */

const text = { type: "string", minLength: 1, maxLength: 200 };

const address = {
  type: "object",
  properties: {
    street: text,
    city: text,
    zip: { type: "string", pattern: "^[0-9]{5}$" },
    country: { enum: ["DE", "FR", "US"] },
  },
  required: ["street", "city", "zip"],
  additionalProperties: false,
};

const item = {
  type: "object",
  properties: {
    sku: text,
    quantity: { type: "integer", minimum: 1, maximum: 99 },
    price: { type: "number", minimum: 0 },
  },
  required: ["sku", "quantity"],
  additionalProperties: false,
};

const items = Array.from({ length: 20 }, (_, index) => ({ sku: `sku-${index}`, quantity: index + 1, price: 9.5 }));
const place = { street: "Main Street 1", city: "Berlin", zip: "10115", country: "DE" };

/** @type {Record<string, unknown>} */
const flat = Object.fromEntries(
  Array.from({ length: 15 }, (_, index) => [
    `name${index}`,
    [text, { type: "integer" }, { type: "boolean" }][index % 3],
  ]),
);
const flatValue = Object.fromEntries(Object.keys(flat).map((name, index) => [name, ["text", index, true][index % 3]]));

const variants = ["circle", "square", "line", "text", "image"].map((kind, index) => ({
  type: "object",
  properties: { kind: { const: kind }, size: { type: "number", minimum: 0 }, [`option${index}`]: text },
  required: ["kind", "size"],
}));

/** @type {Readonly<Record<string, ValidationCase>>} */
export const validationCases = {
  flat: {
    schema: { type: "object", properties: flat, required: Object.keys(flat).slice(0, 5), additionalProperties: false },
    valid: flatValue,
    invalid: { ...flatValue, name7: "7" },
  },
  nested: {
    schema: {
      type: "object",
      properties: { name: text, billing: address, shipping: address },
      required: ["name", "billing"],
    },
    valid: { name: "Ada", billing: place, shipping: place },
    invalid: { name: "Ada", billing: place, shipping: { ...place, zip: "1" } },
  },
  array: {
    schema: {
      type: "object",
      properties: { order: text, items: { type: "array", items: item, maxItems: 50 }, express: { type: "boolean" } },
      required: ["order", "items"],
    },
    valid: { order: "o-1", items, express: true },
    invalid: { order: "o-1", items: [...items.slice(0, 19), { sku: "", quantity: 0, price: 1 }], express: true },
  },
  enum: {
    schema: {
      type: "object",
      properties: {
        unit: { enum: ["celsius", "fahrenheit", "kelvin"] },
        mode: { const: "forecast" },
        days: { enum: [1, 3, 7, 14] },
      },
      required: ["unit", "mode"],
    },
    valid: { unit: "kelvin", mode: "forecast", days: 14 },
    invalid: { unit: "kelvin", mode: "forecast", days: 15 },
  },
  union: {
    schema: {
      type: "object",
      properties: { shape: { anyOf: variants }, layer: { type: "integer" } },
      required: ["shape"],
    },
    valid: { shape: { kind: "image", size: 3, option4: "x" }, layer: 1 },
    invalid: { shape: { kind: "polygon", size: 3 }, layer: 1 },
  },
};
