import { describe, expect, test } from "vitest";
import { expandTemplate, templateVariables } from "./uri-template.ts";

describe("expandTemplate", () => {
  test.each([
    ["note://{id}", { id: "a b/ü" }, "note://a%20b%2F%C3%BC"],
    ["file:///{+path}", { path: "a/b.txt" }, "file:///a/b.txt"],
    ["x://h{/list*}{?q,r}{&s}{#f}", { list: ["a", "b"], q: "1", f: "z" }, "x://h/a/b?q=1#z"],
    ["x://h/{id:3}", { id: "abcdef" }, "x://h/abc"],
    ["x://h/{id}", { id: "{y}</server-text>" }, "x://h/%7By%7D%3C%2Fserver-text%3E"],
  ])("expands %s", (template, variables, uri) => {
    expect(expandTemplate(template, variables)).toBe(uri);
  });

  test("expands a template of 8,192 characters", () => {
    const template = `x://${"y".repeat(8_192 - 4)}`;
    expect(expandTemplate(template, {})).toBe(template);
  });

  test.each([
    ["{+uri}", { uri: "no uri" }, "not an absolute URI"],
    ["x://{a", {}, "not an absolute URI"],
    ["x://{a}{+b}{?c}", { a: "1" }, "requires the variables b"],
    [`x://${"y".repeat(9000)}`, {}, "longer than 8192 characters"],
  ])("rejects %s", (template, variables, message) => {
    expect(() => expandTemplate(template, variables)).toThrow(message);
  });
});

test("a template of 8,192 characters has variables, and a longer one has none", () => {
  const template = `x://{a}${"b".repeat(8_192 - 7)}`;
  expect(templateVariables(template)).toHaveLength(1);
  expect(templateVariables(`${template}b`)).toEqual([]);
});

test("templateVariables returns each name once, without modifiers", () => {
  expect(templateVariables("x://{a:3}/{+b*}{?c,d}{a}{/d}{c}")).toEqual([
    { name: "a", isRequired: true },
    { name: "b", isRequired: true },
    { name: "c", isRequired: true },
    { name: "d", isRequired: false },
  ]);
  expect(templateVariables("x://none")).toEqual([]);
});
