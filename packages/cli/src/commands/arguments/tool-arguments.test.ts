import type { JsonObject, Tool } from "mcparley";
import { describe, expect, test } from "vitest";
import type { TypedArgument } from "./arguments.ts";
import { UsageError } from "../../terminal/io.ts";
import { toolArguments } from "./tool-arguments.ts";

function toolWith(properties: JsonObject, more: JsonObject = {}): Tool {
  return { name: "t", inputSchema: { type: "object", properties, ...more } };
}

const text = (key: string, value: string): TypedArgument => ({ key, form: "text", value });
const json = (key: string, value: unknown): TypedArgument => ({ key, form: "json", value });

function coerced(schema: unknown, typed: string, root: JsonObject = {}): unknown {
  return toolArguments(toolWith({ x: schema }, root), [text("x", typed)]).x;
}

describe("toolArguments", () => {
  test.each([
    [{ type: "integer" }, "5", 5],
    [{ type: "integer" }, "-5", -5],
    [{ type: "integer" }, "5.5", "5.5"],
    [{ type: "number" }, "5.5", 5.5],
    [{ type: "number" }, "5", 5],
    [{ type: "integer" }, "12345678901234567890", "12345678901234567890"],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "yes", "yes"],
    [{ type: ["integer", "null"] }, "null", null],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "7", 7],
    [{ enum: [1, 2] }, "2", 2],
    [{ const: true }, "true", true],
    [{ type: "object" }, '{"a":1}', { a: 1 }],
    [{ type: "array", items: { type: "integer" } }, "[1,2]", [1, 2]],
    [{ type: "array", items: { type: "integer" } }, "3", [3]],
    [{ type: "array", items: { type: "string" } }, "3", ["3"]],
    [{ type: "array", items: { type: "string" } }, "[3", "[3"],
    [{ type: "string" }, "5", "5"],
    [{ type: ["string", "integer"] }, "5", "5"],
    [{ enum: ["1", 2] }, "2", "2"],
    [{}, "5", "5"],
    [true, "5", "5"],
  ])("%j reads %j as %j", (schema, typed, value) => {
    expect(coerced(schema, typed)).toEqual(value);
  });

  test("resolves only references inside the schema", () => {
    const $defs = { count: { type: "integer" }, loop: { $ref: "#/$defs/loop" } };
    expect(coerced({ $ref: "#/$defs/count" }, "5", { $defs })).toBe(5);
    expect(coerced({ $ref: "#/$defs/loop" }, "5", { $defs })).toBe("5");
    expect(coerced({ $ref: "https://example.com/schema" }, "5", { $defs })).toBe("5");
    expect(coerced({ $ref: "#/%" }, "5", { $defs })).toBe("5");
  });

  test("passes JSON unchanged", () => {
    expect(toolArguments(toolWith({ x: { type: "string" } }), [json("x", { a: [1] })])).toEqual({ x: { a: [1] } });
  });

  test("makes an array of a repeated key if the schema has an array", () => {
    const tool = toolWith({ tags: { type: "array", items: { type: "integer" } }, name: { type: "string" } });
    expect(toolArguments(tool, [text("tags", "1"), text("tags", "2"), json("tags", "x")])).toEqual({
      tags: [1, 2, "x"],
    });
    expect(() => toolArguments(tool, [text("name", "a"), text("name", "b")])).toThrow("name is given 2 times");
  });

  test("refuses an unknown name and suggests a known one", () => {
    const tool = toolWith({ query: {}, limit: {} });
    const hint = 'Did you mean "query"?';
    expect(() => toolArguments(tool, [text("qurey", "x")])).toThrow(expect.objectContaining({ hint }));
    expect(() => toolArguments(tool, [text("limit.max", "1")])).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("limit:='{...}'") }),
    );
  });

  test("accepts any name if the schema allows additional properties", () => {
    for (const more of [
      { additionalProperties: true },
      { additionalProperties: {} },
      { patternProperties: {} },
      { anyOf: [] },
    ]) {
      expect(toolArguments(toolWith({ a: {} }, more), [text("b", "1")])).toEqual({ b: "1" });
    }
    expect(toolArguments({ name: "t", inputSchema: { type: "object" } }, [text("b", "1")])).toEqual({ b: "1" });
  });

  test("refuses all names if the schema has no properties and forbids additional ones", () => {
    const tool = toolWith({}, { additionalProperties: false });
    expect(() => toolArguments(tool, [text("a", "1")])).toThrow(UsageError);
  });

  test("treats names of Object.prototype as ordinary names", () => {
    const tool = toolWith({ a: {} });
    expect(() => toolArguments(tool, [text("constructor", "1")])).toThrow('no argument "constructor"');
    const open = toolWith({}, { additionalProperties: true });
    expect(Object.entries(toolArguments(open, [text("__proto__", "1")]))).toEqual([["__proto__", "1"]]);
  });

  test("shows the choices of a missing argument", () => {
    const tool = toolWith({ by: { enum: ["day", "month"] } }, { required: ["by"] });
    expect(() => toolArguments(tool, [])).toThrow(expect.objectContaining({ hint: "Add by=day|month" }));
  });

  test("names missing required arguments, with their form", () => {
    const tool = toolWith({ a: { type: "integer" }, b: { type: "object" }, c: {} }, { required: ["a", "b", "c"] });
    expect(() => toolArguments(tool, [text("c", "1")])).toThrow(
      expect.objectContaining({ message: 'The tool "t" needs a, b.', hint: "Add a=INTEGER b:='{...}'" }),
    );
  });
});
