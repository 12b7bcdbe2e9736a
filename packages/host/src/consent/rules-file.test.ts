import { expect, test } from "vitest";
import { type StateStorage, memoryState } from "../state/state-storage.ts";
import type { Rule } from "./policy.ts";
import { rememberRule, rulesFile } from "./rules-file.ts";

async function reading(text: string): Promise<{ rules: readonly Rule[]; errors: string[] }> {
  const storage = memoryState();
  await storage.update("policy.json", () => text);
  const errors: string[] = [];
  const rules = await rulesFile(storage, (error) => errors.push(error.message)).read();
  return { rules, errors };
}

test("valid rules are returned, and nothing is reported", async () => {
  const rules: Rule[] = [
    { decision: "allow", server: "files", tool: "read_*", annotations: { readOnlyHint: true } },
    { decision: "deny", arguments: { "/path": "/etc/*", "/a~1b": "" } },
  ];
  expect(await reading(JSON.stringify({ rules }))).toEqual({ rules, errors: [] });
});

test("without a file there are no rules", async () => {
  expect(await rulesFile(memoryState(), () => {}).read()).toEqual([]);
});

test.each(["", "{", "[]", "null", '{"rules":{}}', '{"rules":[],"rule":[]}', "{}"])(
  "the content %j denies all calls, and the error names the file and the cure",
  async (text) => {
    const { rules, errors } = await reading(text);
    expect(rules).toEqual([{ decision: "deny" }]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^The file policy\.json .* Correct it\. Until then all calls are denied\.$/);
  },
);

test.each([
  [
    { decision: "deny", tool: "rm*", argument: {} },
    { decision: "deny", tool: "rm*" },
  ],
  [
    { decision: "ask", server: "a", arguments: { path: "x" } },
    { decision: "ask", server: "a" },
  ],
  [
    { decision: "deny", server: "", tool: "b" },
    { decision: "deny", tool: "b" },
  ],
  [
    { decision: "block", server: "a" },
    { decision: "deny", server: "a" },
  ],
  [{ server: "a" }, { decision: "deny", server: "a" }],
  [{ decision: "deny", annotations: { readOnlyHint: "yes" } }, { decision: "deny" }],
  [{ decision: "deny", arguments: { "/a~2": "x" } }, { decision: "deny" }],
  [{ decision: "deny", definition: "abc" }, { decision: "deny" }],
  ["deny", { decision: "deny" }],
  [null, { decision: "deny" }],
])("the invalid rule %j is replaced by %j, and the error names its index", async (rule, replacement) => {
  const valid: Rule = { decision: "allow", server: "b" };
  const { rules, errors } = await reading(JSON.stringify({ rules: [valid, rule] }));
  expect(rules).toEqual([valid, replacement]);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/^Rule 1 of the file policy\.json is not valid: /);
});

test("an invalid rule that allows is left out", async () => {
  const { rules, errors } = await reading(JSON.stringify({ rules: [{ decision: "allow", tools: "read" }] }));
  expect(rules).toEqual([]);
  expect(errors[0]).toContain('unknown member "tools". Remove it. Possible members: decision, server, tool,');
});

test("a change of the file is used by the next decision, and an error is reported once", async () => {
  const storage = memoryState();
  const errors: string[] = [];
  const file = rulesFile(storage, (error) => errors.push(error.message));
  expect(await file.read()).toEqual([]);
  await storage.update("policy.json", () => '{"rules":[{"decision":"deny"}]}');
  const rules = await file.read();
  expect(rules).toEqual([{ decision: "deny" }]);
  expect(await file.read()).toBe(rules);
  await storage.update("policy.json", () => "{");
  await file.read();
  await file.read();
  expect(errors).toHaveLength(1);
  // The same mistake after a correction is a new one.
  await storage.update("policy.json", () => undefined);
  await file.read();
  await storage.update("policy.json", () => "{");
  await file.read();
  expect(errors).toHaveLength(2);
});

test("a storage that cannot be read denies all calls", async () => {
  const storage: StateStorage = { ...memoryState(), read: () => Promise.reject(new Error("mode 0666")) };
  const errors: string[] = [];
  const file = rulesFile(storage, (error) => errors.push(error.message));
  expect(await file.read()).toEqual([{ decision: "deny" }]);
  expect(await file.read()).toEqual([{ decision: "deny" }]);
  expect(errors).toEqual(["mode 0666"]);
});

test("a remembered rule is added once, after the rules of the user", async () => {
  const storage = memoryState();
  await storage.update("policy.json", () => '{"rules":[{"decision":"deny","tool":"rm"}]}');
  const rule: Rule = { decision: "allow", server: "a", tool: "b", definition: "0".repeat(64) };
  await rememberRule(storage, rule);
  await rememberRule(storage, rule);
  expect(await rulesFile(storage, () => {}).read()).toEqual([{ decision: "deny", tool: "rm" }, rule]);
});

test.each(["{", '{"rules":[{"decision":"deny","tols":"x"}]}'])(
  "rules that are not valid are not overwritten: %s",
  async (text) => {
    const storage = memoryState();
    await storage.update("policy.json", () => text);
    await expect(rememberRule(storage, { decision: "allow" })).rejects.toMatchObject({ code: "unusable_storage" });
    expect(await storage.read("policy.json")).toBe(text);
  },
);
