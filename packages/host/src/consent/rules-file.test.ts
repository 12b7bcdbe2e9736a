import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fakeClock } from "mcparley/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fileState } from "../state/file-state.ts";
import { type StateStorage, memoryState } from "../state/state-storage.ts";
import type { Rule } from "./policy.ts";
import { rulesFile, rulesLifetime } from "./rules.ts";

async function reading(text: string): Promise<{ rules: readonly Rule[]; errors: string[] }> {
  const storage = memoryState();
  await storage.update("policy.json", () => text);
  const errors: string[] = [];
  const rules = await rulesFile(storage, fakeClock(), (error) => errors.push(error.message)).read();
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
  expect(await rulesFile(memoryState(), fakeClock(), () => {}).read()).toEqual([]);
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

test("a change of the file is used after the lifetime of the rules, and an error is reported once", async () => {
  const storage = memoryState();
  const clock = fakeClock();
  const errors: string[] = [];
  const file = rulesFile(storage, clock, (error) => errors.push(error.message));
  expect(await file.read()).toEqual([]);
  const readLater = async (): Promise<readonly Rule[]> => {
    await clock.advance(rulesLifetime);
    return file.read();
  };
  await storage.update("policy.json", () => '{"rules":[{"decision":"deny"}]}');
  const rules = await readLater();
  expect(rules).toEqual([{ decision: "deny" }]);
  expect(await readLater()).toBe(rules);
  await storage.update("policy.json", () => "{");
  await readLater();
  await readLater();
  expect(errors).toHaveLength(1);
  // The same mistake after a correction is a new one.
  await storage.update("policy.json", () => undefined);
  await readLater();
  await storage.update("policy.json", () => "{");
  await readLater();
  expect(errors).toHaveLength(2);
});

test("a storage that cannot be read denies all calls", async () => {
  const storage: StateStorage = { ...memoryState(), read: () => Promise.reject(new Error("mode 0666")) };
  const clock = fakeClock();
  const errors: string[] = [];
  const file = rulesFile(storage, clock, (error) => errors.push(error.message));
  expect(await file.read()).toEqual([{ decision: "deny" }]);
  await clock.advance(rulesLifetime);
  expect(await file.read()).toEqual([{ decision: "deny" }]);
  expect(errors).toEqual(["mode 0666"]);
});

test("a remembered rule is added once, after the rules of the user, and applies at once", async () => {
  const storage = memoryState();
  await storage.update("policy.json", () => '{"rules":[{"decision":"deny","tool":"rm"}]}');
  const file = rulesFile(storage, fakeClock(), () => {});
  expect(await file.read()).toHaveLength(1);
  const rule: Rule = { decision: "allow", server: "a", tool: "b", definition: "0".repeat(64) };
  await file.remember(rule);
  await file.remember(rule);
  expect(await file.read()).toEqual([{ decision: "deny", tool: "rm" }, rule]);
});

test.each(["{", '{"rules":[{"decision":"deny","tols":"x"}]}'])(
  "rules that are not valid are not overwritten: %s",
  async (text) => {
    const storage = memoryState();
    await storage.update("policy.json", () => text);
    const file = rulesFile(storage, fakeClock(), () => {});
    await expect(file.remember({ decision: "allow" })).rejects.toMatchObject({ code: "unusable_storage" });
    expect(await storage.read("policy.json")).toBe(text);
  },
);

test("the file is read once for all calls of its lifetime", async () => {
  const storage = memoryState();
  const read = vi.spyOn(storage, "read");
  const clock = fakeClock();
  const file = rulesFile(storage, clock, () => {});
  for (let call = 0; call < 1_000; call++) await file.read();
  await clock.advance(rulesLifetime - 1);
  await Promise.all([file.read(), file.read()]);
  expect(read).toHaveBeenCalledTimes(1);
  await clock.advance(1);
  await Promise.all([file.read(), file.read()]);
  expect(read).toHaveBeenCalledTimes(2);
});

test("the lifetime starts with the reading, so a slow reading does not extend it", async () => {
  const answers: ((text: string) => void)[] = [];
  const read = (): Promise<string> => new Promise((resolve) => answers.push(resolve));
  const clock = fakeClock();
  const file = rulesFile({ ...memoryState(), read }, clock, () => {});
  const slow = file.read();
  await clock.advance(rulesLifetime);
  const next = file.read();
  answers[1]?.('{"rules":[{"decision":"deny"}]}');
  answers[0]?.('{"rules":[]}');
  expect(await next).toEqual([{ decision: "deny" }]);
  expect(await slow).toEqual([]);
  expect(await file.read()).toEqual([{ decision: "deny" }]);
});

test("the file is read again if the clock was set back", async () => {
  const storage = memoryState();
  let now = 1_000_000;
  const file = rulesFile(storage, { ...fakeClock(), now: () => now }, () => {});
  expect(await file.read()).toEqual([]);
  await storage.update("policy.json", () => '{"rules":[{"decision":"deny"}]}');
  now -= 1;
  expect(await file.read()).toEqual([{ decision: "deny" }]);
});

describe("another process", () => {
  let folder: string;
  let policy: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "mcparley rules "));
    policy = path.join(folder, "policy.json");
    writePolicy([{ decision: "allow" }]);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const writePolicy = (rules: readonly Rule[], file = policy): void => {
    writeFileSync(file, JSON.stringify({ rules }), { mode: 0o600 });
  };

  test.each([
    ["changes the file", () => writePolicy([{ decision: "deny" }]), [{ decision: "deny" }]],
    [
      "changes the file to one of the same size",
      () => writePolicy([{ decision: "deny " as never }]),
      [{ decision: "deny" }],
    ],
    [
      "replaces the file by a rename",
      () => {
        writePolicy([{ decision: "ask" }], `${policy}.new`);
        renameSync(`${policy}.new`, policy);
      },
      [{ decision: "ask" }],
    ],
    ["breaks the file", () => writeFileSync(policy, "{"), [{ decision: "deny" }]],
    ["removes the file", () => rmSync(policy), []],
    ["removes the folder", () => rmSync(folder, { recursive: true }), []],
  ] as const)("%s: the change applies after the lifetime of the rules, and not later", async (_, change, expected) => {
    const clock = fakeClock();
    const file = rulesFile(fileState(folder), clock, () => {});
    expect(await file.read()).toEqual([{ decision: "allow" }]);
    change();
    await clock.advance(rulesLifetime - 1);
    expect(await file.read()).toEqual([{ decision: "allow" }]);
    await clock.advance(1);
    expect(await file.read()).toEqual(expected);
  });

  test("corrects a broken file, and a file that was removed is created again", async () => {
    const clock = fakeClock();
    const errors: string[] = [];
    const file = rulesFile(fileState(folder), clock, (error) => errors.push(error.message));
    const states: [change: () => void, expected: readonly Rule[]][] = [
      [() => writeFileSync(policy, "{"), [{ decision: "deny" }]],
      [() => writePolicy([{ decision: "ask" }]), [{ decision: "ask" }]],
      [() => rmSync(policy), []],
      [() => writePolicy([{ decision: "allow" }]), [{ decision: "allow" }]],
    ];
    for (const [change, expected] of states) {
      change();
      await clock.advance(rulesLifetime);
      expect(await file.read()).toEqual(expected);
    }
    expect(errors).toHaveLength(1);
  });
});
