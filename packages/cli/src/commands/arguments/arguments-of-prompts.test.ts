import { describe, expect, test } from "vitest";
import { promptArguments } from "./arguments.ts";

const prompt = { name: "review", arguments: [{ name: "code", required: true }, { name: "language" }] };
const text = (key: string, value: unknown): { key: string; form: "text"; value: unknown } => ({
  key,
  form: "text",
  value,
});

describe("promptArguments", () => {
  test("accepts text, and does not require optional arguments", () => {
    expect(promptArguments(prompt, [text("code", "5")])).toEqual({ code: "5" });
  });

  test.each([
    [[], 'The prompt "review" needs code.'],
    [[text("code", "a"), text("code", "b")], "code is given twice"],
    [[text("code", 5)], "code must be text"],
    [[text("code", "a"), text("langauge", "b")], 'no argument "langauge"'],
  ])("%j is refused", (given, message) => {
    expect(() => promptArguments(prompt, given)).toThrow(message);
  });

  test("suggests the name of the argument that was probably meant", () => {
    expect(() => promptArguments(prompt, [text("langauge", "b")])).toThrow(
      expect.objectContaining({ hint: 'Did you mean "language"?' }),
    );
  });
});
