import type { RequestedSchema } from "mcparley";
import { connect } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { type FormModel, formModel } from "./form-model.ts";

function form(properties: Record<string, object>, required: string[] = []): FormModel {
  const requestedSchema = { type: "object", properties, required } as RequestedSchema;
  return formModel(requestedSchema);
}

const inputs = (properties: Record<string, object>): unknown[] => form(properties).fields.map(({ input }) => input);

test("fields keep their order, and have a title, a description and a requirement", () => {
  const { fields } = form(
    { z: { type: "string", title: "Zed", description: "The last." }, a: { type: "string", title: "" } },
    ["a"],
  );
  expect(fields).toMatchObject([
    { name: "z", title: "Zed", description: "The last.", isRequired: false },
    { name: "a", title: "a", description: undefined, isRequired: true },
  ]);
});

test("texts and numbers have their constraints and defaults", () => {
  expect(
    inputs({
      text: { type: "string", minLength: 1, maxLength: 5, pattern: "^a", format: "email", default: "a@b.c" },
      number: { type: "number", minimum: 0, maximum: 1, default: 0.5 },
      integer: { type: "integer", default: "5" },
      boolean: { type: "boolean", default: false },
    }),
  ).toEqual([
    { type: "text", minLength: 1, maxLength: 5, pattern: "^a", format: "email", initial: "a@b.c" },
    { type: "number", isInteger: false, minimum: 0, maximum: 1, initial: 0.5 },
    { type: "number", isInteger: true, minimum: undefined, maximum: undefined, initial: undefined },
    { type: "boolean", initial: false },
  ]);
});

test("a choice of each revision has its values and titles", () => {
  const options = [
    { value: "r", title: "Red" },
    { value: "g", title: "g" },
  ];
  expect(
    inputs({
      untitled: { type: "string", enum: ["r", 5], default: "r" },
      legacy: { type: "string", enum: ["r", "g"], enumNames: ["Red"], default: "x" },
      titled: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g" }, { const: 5 }, "x"] },
    }),
  ).toEqual([
    { type: "choice", options: [{ value: "r", title: "r" }], initial: "r" },
    { type: "choice", options, initial: undefined },
    { type: "choice", options, initial: undefined },
  ]);
});

test("several choices have their limits and defaults", () => {
  const items = { anyOf: [{ const: "r", title: "Red" }, { const: "g" }] };
  expect(
    inputs({
      untitled: { type: "array", items: { type: "string", enum: ["r"] } },
      titled: { type: "array", items, minItems: 1, maxItems: 2, default: ["g", "x", 5] },
      malformed: { type: "array" },
    }),
  ).toEqual([
    {
      type: "choices",
      options: [{ value: "r", title: "r" }],
      minItems: undefined,
      maxItems: undefined,
      initial: [],
    },
    {
      type: "choices",
      options: [
        { value: "r", title: "Red" },
        { value: "g", title: "g" },
      ],
      minItems: 1,
      maxItems: 2,
      initial: ["g"],
    },
    { type: "choices", options: [], minItems: undefined, maxItems: undefined, initial: [] },
  ]);
});

test("a missing value of a field is found, also if the field is named like a member of each object", () => {
  const requestedSchema = {
    type: "object",
    properties: { constructor: { type: "string" } },
    required: ["constructor"],
  };
  const check = () => [{ path: "", message: 'must have the required property "constructor"' }];
  const request = formModel(requestedSchema as RequestedSchema, check);
  expect(request.check({})[0]?.field).toBe("constructor");
});

test("a problem inside of a value belongs to its field, and one of the whole form to none", () => {
  const properties: RequestedSchema["properties"] = { "a/b": { type: "string" }, c: { type: "string" } };
  const { check } = formModel({ type: "object", properties }, () => [
    { path: "/a~1b/0", message: "must differ" },
    { path: "", message: "must name two places" },
  ]);
  expect(check({})).toEqual([
    { field: "a/b", message: "must differ" },
    { field: undefined, message: "must name two places" },
  ]);
});

test("unknown and malformed fields are texts", () => {
  const unknown = inputs({
    object: { type: "object" },
    list: { type: ["string"] },
    none: 5 as never,
    bad: { enum: [1] },
  });
  expect(unknown).toMatchObject([{ type: "text" }, { type: "text" }, { type: "text" }, { type: "text" }]);
});

describe.each(["2026-07-28", "2025-11-25", "2025-06-18"])("the check of a form (%s)", (revision) => {
  test("returns each problem with its field", async () => {
    const properties = {
      "a/b~c": { type: "string", minLength: 3 },
      mail: { type: "string", format: "email" },
      color: { type: "string", enum: ["red"] },
      size: { type: "integer", default: 3 },
    };
    const schema = { type: "object", properties, required: ["a/b~c"] };
    const server = createServer({
      name: "s",
      version: "1",
      tools: { a: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "m", schema })) }) },
    });
    const forms: FormModel[] = [];
    const client = await connect(server, {
      revision,
      elicit: (params, source) => {
        if (params.mode !== "url") forms.push(formModel(params.requestedSchema, source.check));
        return { action: "cancel" };
      },
    });
    await expect(client.callTool("a")).rejects.toThrow("dismissed");
    await client.close();
    const [asked] = forms;
    const fieldsOf = (content: object): unknown[] | undefined =>
      asked?.check(content as never).map(({ field }) => field);
    expect(asked?.check({ mail: "x" })).toMatchObject([
      { field: "a/b~c", message: 'must have the property "a/b~c"' },
      { field: "mail", message: "must be a valid email" },
    ]);
    expect(fieldsOf({ "a/b~c": "a", color: "blue" })).toEqual(["a/b~c", "color"]);
    expect(fieldsOf({ "a/b~c": "abc", mail: "a@b.c", color: "red", size: 5 })).toEqual([]);
  });
});
