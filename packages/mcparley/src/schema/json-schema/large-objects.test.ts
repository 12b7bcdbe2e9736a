import { compileJsonSchema } from "mcparley-tests/support/compile-json-schema.ts";
import { describe, expect, test } from "vitest";

/** Returns an object that counts how often its keys are listed, and how often a property is read. */
function counted(size: number): { value: object; counts: { lists: number; reads: number } } {
  const counts = { lists: 0, reads: 0 };
  const target = Object.fromEntries(Array.from({ length: size }, (_, index) => [`key${index}`, index]));
  const value = new Proxy(target, {
    ownKeys(object) {
      counts.lists++;
      return Reflect.ownKeys(object);
    },
    get(object, key) {
      counts.reads++;
      return Reflect.get(object, key);
    },
  });
  return { value, counts };
}

/** Each of its keywords looks at all properties. */
const schema = {
  anyOf: ["1", "2", "3"].map((digit) => ({ patternProperties: { [`${digit}$`]: { type: "integer" } } })),
  additionalProperties: { type: "integer" },
  propertyNames: { maxLength: 20 },
  minProperties: 1,
  unevaluatedProperties: false,
};

describe("objects with many properties", () => {
  test("keys of 1,000 properties are listed once for all keywords and alternatives", () => {
    const { value, counts } = counted(1_000);
    expect(compileJsonSchema(schema)(value).issues).toBeUndefined();
    expect(counts.lists).toBe(1);
  });

  test("keys of 999 properties are not kept", () => {
    const { value, counts } = counted(999);
    expect(compileJsonSchema(schema)(value).issues).toBeUndefined();
    expect(counts.lists).toBeGreaterThan(1);
  });

  test("no property is read after the last issue that is reported", () => {
    const { value, counts } = counted(5_000);
    const { issues } = compileJsonSchema({ additionalProperties: { type: "string" } })(value);
    expect(issues).toHaveLength(20);
    // One in the pass that decides, and one for each issue.
    expect(counts.reads).toBe(21);
  });
});
