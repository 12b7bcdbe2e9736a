import type { RequestedSchema } from "mcparley";
import { connect } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { type FormModel, formModel } from "./form-model.ts";

function form(properties: Record<string, object>, required: string[] = []): FormModel {
  const requestedSchema = { type: "object", properties, required } as RequestedSchema;
  return formModel({ message: "Which one?", requestedSchema });
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
  const request = formModel({ message: "", requestedSchema: requestedSchema as RequestedSchema }, check);
  expect(request.check({})[0]?.field).toBe("constructor");
});

test("a problem inside of a value belongs to its field, and one of the whole form to none", () => {
  const properties: RequestedSchema["properties"] = { "a/b": { type: "string" }, c: { type: "string" } };
  const { check } = formModel({ message: "", requestedSchema: { type: "object", properties } }, () => [
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
        if (params.mode !== "url") forms.push(formModel(params, source.check));
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

describe("remarks on secrets", () => {
  const remarksOn = (name: string, property: object = { type: "string" }): readonly string[] =>
    form({ [name]: property }).remarks;

  test.each([
    "password",
    "Password",
    "user_password",
    "dbPassword",
    "DBPassword",
    "passwd",
    "pass word",
    "pass\u200bword",
    "ｐａｓｓｗｏｒｄ",
    "passphrase",
    "pwd",
    "api_key",
    "apiKey",
    "API-Key",
    "APIKey",
    "access token",
    "token",
    "clientSecret",
    "credentials",
    "PIN",
    "pin_code",
    "CVV",
    "cvc",
    "otp",
    "one-time code",
    "verification code",
    "credit card number",
    "SSN",
    "seed phrase",
    "Datenbankpasswort",
    "Kennwort",
    "Mot de passe",
    "Contraseña",
    "Contrasen\u0303a",
    "Senha",
    "Wachtwoord",
    "Hasło",
    "Lösenord",
    "Пароль",
    "密码",
    "パスワード",
    "비밀번호",
    "كلمة المرور",
  ])("a field %s has one, by its name, its title or its description", (words) => {
    const remark = [expect.stringContaining(`The field ${JSON.stringify(words)} seems to ask for a secret.`)];
    expect(remarksOn(words)).toEqual(remark);
    expect(remarksOn("a", { type: "string", title: words })).toEqual(remark);
    expect(remarksOn("a", { type: "string", title: "A", description: `Your ${words}, please.` })).toHaveLength(1);
  });

  test.each([
    ["pin", { type: "integer" }, 1],
    ["value", { type: "string", format: "password" }, 1],
    ["password", { type: "boolean" }, 0],
    ["token", { type: "string", enum: ["a", "b"] }, 0],
    ["keyboard", { type: "string" }, 0],
    ["max_tokens", { type: "integer" }, 0],
    ["pinned", { type: "string" }, 0],
    ["shipping", { type: "string" }, 0],
    ["secretary", { type: "string" }, 0],
    ["passenger", { type: "string" }, 0],
    ["compass", { type: "string" }, 0],
    ["key", { type: "string" }, 0],
    ["author", { type: "string" }, 0],
    ["tanzania", { type: "string" }, 0],
  ])("the field %s with %j has %i", (name, property, count) => {
    expect(remarksOn(name, property)).toHaveLength(count);
  });

  test("each field has its own, and the message has one if no field has", () => {
    const of = (message: string, names: string[]): readonly string[] => {
      const properties = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
      return formModel({ message, requestedSchema: { type: "object", properties } }).remarks;
    };
    expect(of("Sign in.", ["name", "password", "pin"])).toHaveLength(2);
    expect(of("Enter your password.", ["value"])).toEqual([
      expect.stringContaining("The form seems to ask for a secret."),
    ]);
    expect(of("Enter your password.", ["password"])).toHaveLength(1);
    expect(of("The password was changed.", [])).toEqual([]);
  });
});
