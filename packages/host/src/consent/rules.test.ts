import { describe, expect, test } from "vitest";
import type { Rule } from "./policy.ts";
import { matchesGlob } from "@mcparley/internal/glob";
import { type RuleSubject, matchRules } from "./rules.ts";

const call = (changes: Partial<RuleSubject> = {}): RuleSubject => ({
  server: "files",
  tool: "read_file",
  annotations: undefined,
  arguments: { path: "/home/ann/notes.txt" },
  definition: "0".repeat(64),
  identity: undefined,
  ...changes,
});
const decides = (
  rule: Omit<Rule, "decision"> & { decision?: Rule["decision"] },
  changes: Partial<RuleSubject> = {},
): boolean => matchRules([{ decision: "deny", ...rule }], call(changes)) !== undefined;

describe("precedence", () => {
  const allow: Rule = { decision: "allow" };
  const ask: Rule = { decision: "ask", tool: "read_*" };
  const deny: Rule = { decision: "deny", server: "files", tool: "read_file" };

  test.each([
    [[allow, ask, deny], deny],
    [[deny, ask, allow], deny],
    [[allow, ask], ask],
    [[ask, allow], ask],
    [[allow], allow],
  ])("deny is before ask and ask before allow, whatever the order", (rules, rule) => {
    expect(matchRules(rules, call())).toEqual({ decision: rule.decision, rule });
  });

  test("without a matching rule there is no decision", () => {
    expect(matchRules([{ decision: "deny", server: "other" }], call())).toBeUndefined();
  });
});

describe("a rule matches by", () => {
  test("server and tool, case-sensitively and as a whole", () => {
    expect(decides({ server: "files", tool: "read_file" })).toBe(true);
    expect(decides({ server: "Files" })).toBe(false);
    expect(decides({ server: "file" })).toBe(false);
    expect(decides({ tool: "read" })).toBe(false);
    expect(decides({ server: "f*", tool: "*_file" })).toBe(true);
  });

  test("annotations, with the defaults of the specification for those that are missing", () => {
    expect(decides({ annotations: { readOnlyHint: true } })).toBe(false);
    expect(decides({ annotations: { readOnlyHint: true } }, { annotations: { readOnlyHint: true } })).toBe(true);
    expect(decides({ annotations: { destructiveHint: true } })).toBe(true);
    expect(decides({ annotations: { destructiveHint: false } })).toBe(false);
    expect(decides({ annotations: { openWorldHint: true } }, { annotations: {} })).toBe(true);
    expect(decides({ annotations: { unknownHint: false } })).toBe(false);
  });

  test("the hash of the definition", () => {
    expect(decides({ definition: "0".repeat(64) })).toBe(true);
    expect(decides({ definition: "1".repeat(64) })).toBe(false);
  });

  test.each([
    ["/path", "/home/ann/notes.txt", true],
    ["/path", "/home/*", true],
    ["/path", "/home/ann", false],
    ["/missing", "*", false],
    ["/missing/deep", "*", false],
    ["/path/length", "*", false],
    ["/toString", "*", false],
    ["/count", "5", true],
    ["/count", "5.0", false],
    ["/isDry", "true", true],
    ["/nothing", "null", true],
    ["/list", '["a","b"]', true],
    ["/list", '*"b"*', true],
    ["/list/1", "b", true],
    ["/list/2", "*", false],
    ["/deep/a~1b/c~0d", "x", true],
    ["/deep", '{"a/b":{"c~d":"x"}}', true],
    ["/accent", "e\u0301", true],
    ["/accent", "\u00e9", false],
    ["/star", "a*", true],
  ])("the argument at %s with the pattern %s: %s", (pointer, pattern, expected) => {
    const given = {
      path: "/home/ann/notes.txt",
      count: 5,
      isDry: true,
      nothing: null,
      list: ["a", "b"],
      deep: { "a/b": { "c~d": "x" } },
      accent: "e\u0301",
      star: "a*b",
      undefined,
    };
    expect(decides({ arguments: { [pointer]: pattern } }, { arguments: given })).toBe(expected);
  });

  test("all patterns of arguments", () => {
    const given = { from: "/a/x", to: "/b/x" };
    expect(decides({ arguments: { "/from": "/a/*", "/to": "/b/*" } }, { arguments: given })).toBe(true);
    expect(decides({ arguments: { "/from": "/a/*", "/to": "/a/*" } }, { arguments: given })).toBe(false);
  });
});

test("a wildcard of an allow rule matches no parent segment, also in an array", () => {
  const rule: Rule = { decision: "allow", arguments: { "/paths": '["/home/ann/*"]' } };
  const decide = (path: string) => matchRules([rule], call({ arguments: { paths: [path] } }))?.decision;
  expect(decide("/home/ann/a")).toBe("allow");
  expect(decide("/home/ann/%252e%252e/b")).toBeUndefined();
});

describe("a pattern", () => {
  test.each([
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["*ab*ab", "abab", true],
    ["*ab*ab", "ab", false],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["**", "x", true],
    ["a.c", "abc", false],
    ["*\n*", "a\nb", true],
    ["[a]", "a", false],
  ])("%j and the text %j: %s", (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  test("agrees with a regular expression on generated texts", () => {
    const texts = (length: number): string[] =>
      length === 0 ? [""] : texts(length - 1).flatMap((text) => ["a", "b", "*"].map((letter) => text + letter));
    const subjects = [0, 1, 2, 3, 4, 5].flatMap(texts).filter((text) => !text.includes("*"));
    const wrong = [0, 1, 2, 3, 4].flatMap(texts).flatMap((pattern) => {
      const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
      return subjects
        .filter((text) => matchesGlob(pattern, text) !== expected.test(text))
        .map((text) => [pattern, text]);
    });
    expect(wrong).toEqual([]);
  });

  test("with many wildcards is matched without backtracking", () => {
    // With backtracking this takes longer than the age of the universe.
    expect(matchesGlob(`${"*a".repeat(500)}b`, "a".repeat(100_000))).toBe(false);
  });
});
