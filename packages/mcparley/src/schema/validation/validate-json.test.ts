import { expect, test } from "vitest";
import { validateJson } from "./validate-json.ts";

const schema = {
  type: "object",
  properties: { name: { type: "string", pattern: "^(a+)+$" }, count: { type: "integer", maximum: 3 } },
  required: ["name"],
  additionalProperties: false,
};

test("resolves with no issue for a value that matches", async () => {
  expect(await validateJson(schema, { name: "aaa", count: 3 })).toEqual([]);
});

test("resolves with the path and the reason of each mismatch", async () => {
  const issues = await validateJson(schema, { count: 4, other: 1 });
  expect(issues.map(({ path }) => path)).toEqual(expect.arrayContaining(["/count"]));
  expect(issues.map(({ message }) => message).join("\n")).toMatch(/maximum|at most|<= 3/);
  expect(issues.length).toBeGreaterThanOrEqual(3);
});

test("evaluates a pattern with nested repetitions in linear time", async () => {
  const issues = await validateJson(schema, { name: `${"a".repeat(50_000)}!` });
  expect(issues.map(({ path }) => path)).toEqual(["/name"]);
});

test("checks nothing for a schema that is not valid", async () => {
  expect(await validateJson({ type: 5 }, "text")).toEqual([]);
});

test("rejects for a schema that refers to another document", async () => {
  await expect(validateJson({ $ref: "https://example.com/schema.json" }, 1)).rejects.toThrow("schema.json");
});

test("rejects for values that need more steps than the limit", async () => {
  const wide = { items: { anyOf: Array.from({ length: 400 }, (_, index) => ({ const: `${index}` })) } };
  const values = Array.from({ length: 20_000 }, () => 7);
  const issues = await validateJson(wide, values).catch((error: Error) => [{ path: "", message: error.message }]);
  expect(issues.length).toBeGreaterThan(0);
});
