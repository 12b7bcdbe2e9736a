import { expect, test } from "vitest";
import { incompleteness, resultOf, withRow } from "../../scripts/last-runs.mjs";

const row = { suite: "`npm run soak`", date: "2026-01-02", commit: "abc", duration: "11 min", result: "passed" };

test("a run replaces the row of its suite, and no other row", () => {
  const first = withRow("", row);
  const both = withRow(first, { ...row, suite: "`npm run soak -- host`", result: "failed" });
  const later = withRow(both, { ...row, date: "2026-02-03" });
  const rows = later.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows).toEqual([
    "| `npm run soak -- host` | 2026-01-02 | abc | 11 min | failed |",
    "| `npm run soak` | 2026-02-03 | abc | 11 min | passed |",
  ]);
  expect(later.startsWith("# Last runs\n")).toBe(true);
  expect(withRow(later, { ...row, date: "2026-02-03" })).toBe(later);
});

test.each([
  [true, "chaos          passed", "passed"],
  [true, "not run, for want of a server: nginx", "passed in part"],
  [false, "not run, for want of a server: nginx", "failed"],
])("the result of a run that is %s and prints %j is %j", (isOk, output, result) => {
  expect(resultOf(isOk, output)).toBe(result);
});

test("a run with options is not recorded", () => {
  expect(incompleteness(["cluster"])).toBeUndefined();
  expect(incompleteness(["cluster", "--only", "chaos"])).toContain("Leave out --only.");
});
