import type { RequestedSchema } from "mcparley";
import { describe, expect, test } from "vitest";
import { formModel } from "@mcparley/internal/form-model";
import { type Field, InvalidField, fieldsOf } from "./form-fields.ts";
import { readAnswers } from "../../commands/connection/questions.ts";

function form(properties: RequestedSchema["properties"], required: string[] = []): Field[] {
  return fieldsOf(formModel({ message: "", requestedSchema: { type: "object", properties, required } }));
}

function field(property: Record<string, unknown>): Field {
  const [only] = form({ x: property });
  if (!only) throw new Error("no field");
  return only;
}

describe("fieldsOf", () => {
  test("returns title, description, default and whether an answer is required", () => {
    const [name, age] = form(
      { name: { type: "string", title: "Name", description: "Yours" }, age: { type: "integer", default: 3 } },
      ["name"],
    );
    expect(name).toMatchObject({
      name: "name",
      title: "Name",
      description: "Yours",
      isRequired: true,
      default: undefined,
    });
    expect(age).toMatchObject({ title: "age", isRequired: false, default: 3, expects: "whole number" });
  });

  const titled = [
    { const: "#f00", title: "Red" },
    { const: "#0f0", title: "Green" },
  ];
  test.each<[Record<string, unknown>, string, unknown]>([
    [{ type: "string" }, " a b ", " a b "],
    [{ type: "string", format: "email" }, "ada@example.com", "ada@example.com"],
    [{ type: "string", format: "uri" }, "https://a/b", "https://a/b"],
    [{ type: "string", format: "date" }, "2024-02-29", "2024-02-29"],
    [{ type: "string", format: "date-time" }, "2024-02-29T10:00:00+01:00", "2024-02-29T10:00:00+01:00"],
    [{ type: "string", maxLength: 1 }, "👍", "👍"],
    [{ type: "number" }, "-1.5e3", -1500],
    [{ type: "integer", minimum: 1, maximum: 5 }, " 5 ", 5],
    [{ type: "boolean" }, "Y", true],
    [{ type: "boolean" }, "no", false],
    [{ type: "string", enum: ["a", "b"] }, "2", "b"],
    [{ type: "string", enum: ["a", "b"] }, "b", "b"],
    [{ type: "string", enum: ["2", "1"] }, "2", "2"],
    [{ type: "string", enum: ["a", "b"], enumNames: ["Ah", "Be"] }, "be", "b"],
    [{ type: "string", oneOf: titled }, "green", "#0f0"],
    [{ type: "array", items: { type: "string", enum: ["a", "b"] } }, "2, 1,2", ["b", "a"]],
    [{ type: "array", items: { anyOf: titled }, minItems: 1 }, "Red", ["#f00"]],
  ])("%j takes %j as %j", (property, typed, value) => {
    expect(field(property).read(typed)).toEqual(value);
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ type: "string", format: "email" }, "ada", "must be a valid e-mail address, such as ada@example.com"],
    [{ type: "string", format: "uri" }, "a b", "must be a valid URI"],
    [{ type: "string", format: "date" }, "2023-02-29", "must be a valid date"],
    [{ type: "string", format: "date-time" }, "2023-02-28 10:00", "must be a valid date and time"],
    [{ type: "string", minLength: 3 }, "ab", "at least 3 characters; this has 2"],
    [{ type: "string", maxLength: 1 }, "ab", "at most 1 characters"],
    [{ type: "number" }, "0x", "must be a number"],
    [{ type: "number" }, "Infinity", "must be a number"],
    [{ type: "integer", minimum: 1, maximum: 5 }, "6", "must be a whole number from 1 to 5"],
    [{ type: "integer" }, "1.5", "must be a whole number"],
    [{ type: "boolean" }, "maybe", "must be yes or no"],
    [{ type: "string", enum: ["a", "b"] }, "3", "must be a number from 1 to 2"],
    [{ type: "string", enum: ["a", "b"] }, "0", "must be a number from 1 to 2"],
    [{ type: "array", items: { enum: ["a", "b"] }, minItems: 2 }, "1,1", "must have at least 2 choices"],
  ])("%j refuses %j", (property, typed, message) => {
    expect(() => field(property).read(typed)).toThrow(InvalidField);
    expect(() => field(property).read(typed)).toThrow(message);
  });
});

test("refuses a typed value if the check of the form refuses it in this field", () => {
  const properties = { "a/b": { type: "string" }, c: { type: "string" } } as const;
  const model = formModel({ message: "", requestedSchema: { type: "object", properties } }, (content) => [
    { path: "", message: 'must have the property "d"' },
    ...("a/b" in content ? [{ path: "/a~1b", message: "must match the pattern ^x" }] : []),
  ]);
  const [first, second] = fieldsOf(model);
  expect(() => first?.read("y")).toThrow("The answer must match the pattern ^x.");
  expect(second?.read("y")).toBe("y");
});

describe("readAnswers", () => {
  const fields = form(
    { date: { type: "string", format: "date" }, seats: { type: "integer", default: 2 }, note: { type: "string" } },
    ["date", "seats"],
  );

  test("reads the given answers and names the missing ones", () => {
    expect(readAnswers(fields, { seats: "4" })).toMatchObject({ missing: ["date"], problems: [] });
    const answers = { date: "2026-01-01", other: "x" };
    expect(readAnswers(fields, answers)).toMatchObject({ missing: ["seats"], content: { date: "2026-01-01" } });
  });

  test("has the defaults of fields without an answer only if they are used", () => {
    const answers = { date: "2026-01-01" };
    const { missing, content } = readAnswers(fields, answers, true);
    expect({ missing, content }).toEqual({ missing: [], content: { date: "2026-01-01", seats: 2 } });
    expect(readAnswers(fields, { ...answers, seats: "3" }, true).content).toMatchObject({ seats: 3 });
  });

  test("names required choices as missing if none is chosen without an answer, although a person can confirm it", () => {
    const items = { enum: ["a", "b"] };
    const several = form({ x: { type: "array", items }, y: { type: "array", items, default: ["a"] } }, ["x", "y"]);
    expect(several.map((field) => field.default)).toEqual([[], ["a"]]);
    expect(readAnswers(several, {}, true).missing).toEqual(["x"]);
    expect(readAnswers(several, { x: "b" }, true).missing).toEqual([]);
  });

  test("reports an invalid answer, which counts as missing", () => {
    const { missing, problems } = readAnswers(fields, { date: "tomorrow" }, true);
    expect(missing).toEqual(["date"]);
    expect(problems[0]).toContain("--answer date=tomorrow: The answer must be a valid date");
  });

  test.each([
    [{ type: "string", enum: ["a", "b"] }, "c", '"c" is not a choice. The choices are: a, b.'],
    [{ type: "string", enum: ["a"] }, "c", '"c" is not a choice. The choices are: a.'],
    [
      { type: "string", oneOf: [{ const: "v", title: "Vegan" }, { const: "n" }] },
      "3",
      '"3" is not a choice. The choices are: v (Vegan), n.',
    ],
    [{ type: "array", items: { enum: ["a", "b"] } }, "a, c", '"c" is not a choice. The choices are: a, b.'],
  ] as const)("reports the choices of %j for %j", (property, typed, message) => {
    const { problems } = readAnswers(form({ x: property }, []), { x: typed });
    expect(problems).toEqual([`--answer x=${typed}: ${message}`]);
  });

  test("reports 20 choices and the number of the others", () => {
    const choices = (count: number): string =>
      readAnswers(form({ x: { type: "string", enum: Array.from({ length: count }, (_, at) => `c${at}`) } }, []), {
        x: "other",
      }).problems.join();
    expect(choices(20)).toMatch(/c18, c19\.$/);
    expect(choices(21)).toMatch(/c18, c19, 1 more\.$/);
  });
});
