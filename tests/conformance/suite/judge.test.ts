import { describe, expect, test } from "vitest";
import { judge, staleEntries, unknownEntries } from "./judge.mjs";
import type { Check, Excuse, Outcome, Run } from "./types.ts";

const run: Run = { id: "1.0 server all", release: "1.0", leg: "server", scenarios: ["a"] };

const check = (status: Check["status"], id = "check"): Check => ({ id, status, description: "said" });

const excuse = (more: Partial<Excuse>): Excuse => ({ reason: "later", leg: "server", scenarios: ["a"], ...more });

const judged = (outcome: Outcome, baseline: Excuse[] = []) => judge(run, "a", outcome, baseline);

describe("a scenario", () => {
  test("passes with successes, also if other checks are skipped or informational", () => {
    const checks = [check("SUCCESS"), check("SKIPPED"), check("INFO")];
    expect(judged({ checks })).toMatchObject({ state: "passed", failures: [] });
  });

  test.each(["FAILURE", "WARNING"] as const)("fails with a %s, and reports its message", (status) => {
    const { state, failures } = judged({ checks: [check("SUCCESS"), check(status, "bad")] });
    expect(state).toBe("failed");
    expect(failures).toEqual([{ check: "bad", message: `${status}: said` }]);
  });

  test.each([
    ["no checks at all", []],
    ["only skipped checks", [check("SKIPPED")]],
    ["only the check that every scenario has", [check("SUCCESS", "wire-schema-valid"), check("SKIPPED")]],
  ])("fails with %s, because nothing was checked", (_, checks) => {
    expect(judged({ checks })).toMatchObject({ state: "failed", failures: [{ check: "(nothing checked)" }] });
  });

  test("fails without a result, or if the client failed", () => {
    expect(judged({ checks: undefined })).toMatchObject({ state: "failed", failures: [{ check: "(no result)" }] });
    const outcome = { checks: [check("SUCCESS")], trouble: "exit 1" };
    expect(judged(outcome)).toMatchObject({
      state: "failed",
      failures: [{ check: "(ended badly)", message: "exit 1" }],
    });
  });
});

describe("the baseline", () => {
  const outcome = { checks: [check("FAILURE", "one"), check("WARNING", "two")] };

  test.each([
    ["a scenario", excuse({}), "baselined"],
    ["one of its failing checks", excuse({ scenarios: ["a:one"] }), "failed"],
    ["both of them", excuse({ scenarios: ["a:one", "a:two"] }), "baselined"],
    ["another scenario", excuse({ scenarios: ["b"] }), "failed"],
    ["the other side", excuse({ leg: "client" }), "failed"],
    ["another release", excuse({ releases: ["2.0"] }), "failed"],
    ["another run", excuse({ runs: ["1.0 server all 2025-11-25"] }), "failed"],
    ["this release and run", excuse({ releases: ["1.0"], runs: [run.id] }), "baselined"],
  ])("judges a failed scenario with an entry for %s", (_, entry, state) => {
    expect(judged(outcome, [entry]).state).toBe(state);
  });

  test("reports an entry that is not needed, except if its scenario did not run", () => {
    const passing = judged({ checks: [check("SUCCESS", "one")] });
    const failing = judged(outcome);
    expect(staleEntries([excuse({})], [passing])).toEqual([
      'a passes in "1.0 server all": take it out of the baseline',
    ]);
    expect(staleEntries([excuse({ scenarios: ["a:three"] })], [failing])).toHaveLength(1);
    expect(staleEntries([excuse({}), excuse({ scenarios: ["a:one", "b"] })], [failing])).toEqual([]);
  });

  test("reports an entry for a scenario that no release has", () => {
    const scenarios = { "1.0": { server: { a: { versions: [] } }, client: {} } };
    expect(unknownEntries([excuse({ scenarios: ["a:one", "aa"] }), excuse({ leg: "client" })], scenarios)).toEqual([
      'The baseline names the server scenario "aa", which does not exist.',
      'The baseline names the client scenario "a", which does not exist.',
    ]);
  });
});
