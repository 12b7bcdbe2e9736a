import fc from "fast-check";
import { expect, test } from "vitest";
import { nameRules, promptName, toolName } from "./names.ts";

test("joins simple names of a server and a tool with two underscores", () => {
  expect(toolName("files", "read_file")).toBe("files__read_file");
  expect(toolName("my-server", "GET")).toBe("my-server__GET");
  expect(toolName("a", "_b")).toBe("a___b");
});

const special: readonly (readonly [string, string])[] = [
  ["a__b", "c"],
  ["a_", "b"],
  ["", "tool"],
  ["server", ""],
  ["1password", "read"],
  ["größe", "öffnen"],
  ["天気", "東京"],
  ["files", "read.file"],
  ["files", "x".repeat(300)],
  ["files", "read\u200bfile"],
  ["constructor", "__proto__\u0000"],
];

test.each(special)("gives server %j and tool %j a readable name with a hash", (server, tool) => {
  const name = toolName(server, tool);
  expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_-]*_[a-z2-7]{12}$/);
  expect(name).not.toContain("__");
});

test("keeps the readable part of names with a hash", () => {
  expect(toolName("größe", "öffnen")).toMatch(/^gro_e_offnen_[a-z2-7]{12}$/);
  expect(toolName("files", "read.file")).toMatch(/^files_read_file_[a-z2-7]{12}$/);
  expect(toolName("1password", "read")).toMatch(/^tool_1password_read_[a-z2-7]{12}$/);
});

test("a name stays the same in each version, because conversations and rules are stored", () => {
  expect(toolName("files", "read.file")).toBe("files_read_file_7qn47w46jwod");
});

test("separates pairs whose simple join would be equal", () => {
  expect(toolName("a__b", "c")).not.toBe(toolName("a", "b__c"));
  expect(toolName("a_", "b")).not.toBe(toolName("a", "_b"));
  expect(toolName("a", "b")).not.toBe(toolName("a", "b\u200b"));
  expect(toolName("а", "b")).not.toBe(toolName("a", "b"));
});

/** Parts that are likely to collide: separators, names with hashes, and characters that are removed. */
const part = fc.oneof(
  fc
    .array(fc.constantFrom("a", "b", "_", "__", "-", ".", "1", "é", "\u200b", "\ud800", '"', "\\"), { maxLength: 6 })
    .map((texts) => texts.join("")),
  fc
    .tuple(fc.constantFrom("a", "a_b", "a.b"), fc.constantFrom("c", "c_d", "__"))
    .map(([server, tool]) => toolName(server, tool)),
  fc.string({ unit: "binary", maxLength: 80 }),
);

test("follows the rules of all providers, and gives different pairs different names", () => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(part, part, (server, tool) => {
      const name = toolName(server, tool);
      for (const { pattern } of nameRules) expect(name).toMatch(pattern);
      const pair = JSON.stringify([server, tool]);
      expect(seen.get(name) ?? pair).toBe(pair);
      seen.set(name, pair);
    }),
    { numRuns: 5000 },
  );
});

test("gives different pairs of prompts different names", () => {
  expect(promptName("files", "summary")).toBe("files:summary");
  expect(promptName("a:b", "c")).toBe("a%3Ab:c");
  expect(promptName("a%3Ab", "c")).toBe("a%253Ab:c");
  expect(promptName("a", "b:c")).toBe("a:b:c");
});

test("each rule has the address of its source", () => {
  for (const { source } of nameRules) expect(source).toMatch(/^https:\/\//);
});
