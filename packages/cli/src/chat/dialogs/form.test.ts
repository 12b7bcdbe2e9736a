import type { FieldProblem, FormContent, FormField, FormRequest } from "@mcparley/host";
import { describe, expect, test } from "vitest";
import { hostile, scriptedDialogs, signal } from "../../terminal/testing/scripted-prompter.ts";

const noLimits = { minLength: undefined, maxLength: undefined, pattern: undefined, format: undefined };

function field(name: string, input: FormField["input"], changes: Partial<FormField> = {}): FormField {
  return { name, title: name, description: undefined, isRequired: true, input, ...changes };
}

const text: FormField["input"] = { type: "text", ...noLimits, initial: undefined };
const seats: FormField["input"] = { type: "number", isInteger: true, minimum: 1, maximum: 4, initial: 2 };
const meals = [
  { value: "v", title: "Vegan" },
  { value: "f", title: "Fish" },
];
const sides = [
  { value: "rice", title: "Rice" },
  { value: "a,b", title: "Apples, bananas" },
];

const fields = [
  field("seats", seats, { title: "Seats", description: "At one table." }),
  field("window", { type: "boolean", initial: undefined }, { isRequired: false }),
  field("meal", { type: "choice", options: meals, initial: undefined }, { title: "Meal" }),
  field("sides", { type: "choices", options: sides, minItems: undefined, maxItems: 2, initial: [] }),
  field("email", { ...text, format: "email" }, { isRequired: false }),
];

function request(list: readonly FormField[] = fields, changes: Partial<FormRequest> = {}): FormRequest {
  return {
    origin: { server: "tables", claims: { name: "Table server", version: "1.2.0" }, during: 'tools/call "book"' },
    message: "Which table do you want?",
    fields: list,
    remarks: [],
    check: () => [],
    ...changes,
  };
}

test("shows the remarks of the host before the first field", async () => {
  const { renderer, screen } = scriptedDialogs(["/decline"]);
  await renderer.form(request(fields, { remarks: ['The field "PIN" seems to ask for a secret.'] }), signal);
  expect(screen()).toMatch(/Which table do you want\?\s+! The field "PIN" seems to ask for a secret\.[^]*1 of 5/);
});

test("asks field by field, shows all answers, and sends them after a yes", async () => {
  const { renderer, screen } = scriptedDialogs(["", "y", "2", "", "ada@example.com", "send"]);
  expect(await renderer.form(request(), signal)).toEqual({
    action: "accept",
    content: { seats: 2, window: true, meal: "f", sides: [], email: "ada@example.com" },
  });
  expect(screen()).toMatchInlineSnapshot(`
    "
    The server "tables" asks you to fill in a form (during tools/call "book").
    It calls itself "Table server", version "1.2.0". This is not verified.
      │ Which table do you want?
    Your answers are sent only after you confirm them. Type /decline to decline,
    /cancel to cancel.

    1 of 5: Seats (whole number from 1 to 4, required)
      At one table.
      [Enter: 2] > 

    2 of 5: window (yes or no, optional)
      [Enter: skip] > y

    3 of 5: Meal (number of a choice, required)
      1. Vegan (v)
      2. Fish (f)
      > 2

    4 of 5: sides (numbers of choices, separated by commas, at most 2, required)
      1. Rice (rice)
      2. Apples, bananas (a,b)
      [Enter: none] > 

    5 of 5: email (e-mail address, such as ada@example.com, optional)
      [Enter: skip] > ada@example.com

    Your answer:
      Seats: 2
      window: yes
      Meal: Fish
      sides: none
      email: ada@example.com
    [s]end, [e]dit, [d]ecline or [c]ancel? send
    "
  `);
});

describe("the menu", () => {
  const menuOf = async (name: string, before: string): Promise<unknown> => {
    let menu: unknown;
    const answer = scriptedDialogs([
      ({ suggest }) => {
        menu = suggest?.(before, signal);
        return "/cancel";
      },
    ]);
    await answer.renderer.form(request(fields.filter((one) => one.name === name)), signal);
    return menu;
  };

  test("has the choices that contain the text", async () => {
    const entries = [
      { value: "v", label: "Vegan", detail: "v" },
      { value: "f", label: "Fish", detail: "f" },
    ];
    expect(await menuOf("meal", "")).toEqual({ entries, replaces: 0 });
    expect(await menuOf("meal", "FIS")).toEqual({ entries: [entries[1]], replaces: 3 });
    expect(await menuOf("meal", "2")).toEqual({ entries: [entries[1]], replaces: 1 });
    expect(await menuOf("meal", "x")).toBeUndefined();
  });

  test("completes the part after the last comma, with a number for a value that has a comma", async () => {
    const entries = [{ value: "2", label: "Apples, bananas", detail: "2" }];
    expect(await menuOf("sides", "rice, app")).toEqual({ entries, replaces: 3 });
  });

  test("has yes and no for a boolean, and is missing for other fields", async () => {
    expect(await menuOf("window", "n")).toEqual({ entries: [{ value: "no", label: "no" }], replaces: 1 });
    expect(await menuOf("seats", "")).toBeUndefined();
  });
});

describe("the check of the form", () => {
  const from = field("from", text, { title: "From" });
  const to = field("to", text, { title: "To" });
  const differ = (content: FormContent): FieldProblem[] =>
    content.from === content.to ? [{ field: undefined, message: "must name two places" }] : [];

  test("refuses a value of a field when it is typed", async () => {
    const check = ({ from: value }: FormContent): FieldProblem[] =>
      value === "x" ? [{ field: "from", message: "must match the pattern ^[a-z]{3}$" }] : [];
    const { renderer, screen } = scriptedDialogs(["x", "ber", "s"]);
    expect(await renderer.form(request([from], { check }), signal)).toMatchObject({ content: { from: "ber" } });
    expect(screen()).toContain("  The answer must match the pattern ^[a-z]{3}$.\n");
  });

  test("shows problems of the whole form, which is then edited and not sent", async () => {
    const { renderer, screen, unusedAnswers } = scriptedDialogs(["ber", "ber", "send", "e", "", "par", "s"]);
    const answer = await renderer.form(request([from, to], { check: differ }), signal);
    expect(answer).toEqual({ action: "accept", content: { from: "ber", to: "par" } });
    expect(screen()).toContain(
      "It cannot be sent:\n  ! The answer must name two places.\n[e]dit, [d]ecline or [c]ancel? send\n",
    );
    expect(unusedAnswers).toEqual([]);
  });

  test("asks only for the fields with problems", async () => {
    const check = (content: FormContent): FieldProblem[] =>
      Object.hasOwn(content, "from") && content.to === "ber" ? [{ field: "to", message: "must differ" }] : [];
    const { renderer, screen } = scriptedDialogs(["ber", "ber", "e", "par", "s"]);
    const answer = await renderer.form(request([from, to], { check }), signal);
    expect(answer).toEqual({ action: "accept", content: { from: "ber", to: "par" } });
    expect(screen()).toContain("  ! To must differ.\n");
    expect(screen()).toContain("\n1 of 1: To (text, required)\n");
  });

  test("cannot be passed by a decline or a cancel", async () => {
    for (const [typed, action] of [
      ["d", "decline"],
      ["cancel", "cancel"],
    ] as const) {
      const { renderer } = scriptedDialogs(["a", "a", typed]);
      expect(await renderer.form(request([from, to], { check: differ }), signal)).toEqual({ action });
    }
  });
});

test.each([
  ["/decline", "decline"],
  ["/cancel", "cancel"],
])("%s in a field ends the form", async (typed, action) => {
  expect(await scriptedDialogs([typed]).renderer.form(request(), signal)).toEqual({ action });
});

test("is cancelled when the input ends", async () => {
  expect(await scriptedDialogs(["3"]).renderer.form(request(), signal)).toEqual({ action: "cancel" });
});

test("a form without fields asks for agreement", async () => {
  const { renderer, screen } = scriptedDialogs(["yes"]);
  expect(await renderer.form(request([]), signal)).toEqual({ action: "accept", content: {} });
  expect(screen()).toContain('The server "tables" asks for your agreement (during tools/call "book").\n');
});

test("a field named __proto__ is an ordinary member", async () => {
  const answer = await scriptedDialogs(["x", "s"]).renderer.form(request([field("__proto__", text)]), signal);
  expect(JSON.stringify(answer)).toBe('{"action":"accept","content":{"__proto__":"x"}}');
});

test("long texts are cut, and can be viewed", async () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
  const { renderer, screen } = scriptedDialogs(["v", "c", "/view", "/cancel"]);
  await renderer.form(request([field("x", text, { description: lines })], { message: lines }), signal);
  const [cut = "", viewed = ""] = screen().split("[c]ontinue, [d]ecline or [v]iew? v\n");
  expect(cut).toContain("  … 60 lines are not shown\n");
  expect(cut).not.toContain("line 50\n");
  expect(viewed.match(/line 50\n/g)).toHaveLength(2);
  expect(viewed).toContain("  Type /view to see all lines.\n  > /view\n");
});

test("a long reason can be declined at once", async () => {
  const { renderer } = scriptedDialogs(["d"]);
  expect(await renderer.form(request(fields, { message: "line\n".repeat(99) }), signal)).toEqual({ action: "decline" });
});

test("texts of a server cannot look like lines of the chat", async () => {
  const option = { value: hostile, title: `${hostile}${"x".repeat(200)}` };
  const list = [
    field(
      hostile,
      { type: "choice", options: [option, option], initial: hostile },
      { title: hostile, description: hostile },
    ),
    field("b", { ...text, initial: `${"y".repeat(100)}${hostile}` }, { title: `${"z".repeat(80)}The\u00a0server` }),
  ];
  const check = (content: FormContent): FieldProblem[] =>
    Object.keys(content).length === 2 ? [{ field: undefined, message: hostile }] : [];
  const origin = { server: hostile, claims: { name: hostile, version: hostile }, during: hostile };
  const { renderer, screen } = scriptedDialogs(["9", "", "", "c"]);
  await renderer.form(request(list, { message: hostile, check, origin }), signal);
  expect(screen()).not.toMatch(/[^ -~\n│…\u00a0]/);
  expect(screen()).not.toMatch(/^(The server "safe"|The\u00a0server|Call it)/m);
  expect(
    Math.max(
      ...screen()
        .split("\n")
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(80);
});
