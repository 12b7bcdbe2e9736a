import path from "node:path";
import { expect, test } from "vitest";
import { countsIn, errorsIn, failuresIn, testArguments } from "../../scripts/failures.mjs";
import { root } from "../../scripts/ready.mjs";

const report = {
  numPassedTests: 3,
  numFailedTests: 1,
  numPendingTests: 2,
  testResults: [
    {
      name: path.join(root, "tests/a.test.ts"),
      status: "failed",
      message: "No such module\nat b",
      assertionResults: [],
    },
    {
      name: path.join(root, "tests/b.test.ts"),
      status: "failed",
      message: "",
      assertionResults: [
        {
          status: "failed",
          title: "fails",
          ancestorTitles: ["a suite"],
          failureMessages: ["Error: 1 is not 2\n  at c"],
        },
        { status: "passed", title: "passes", ancestorTitles: [] },
      ],
    },
  ],
};

test("failed tests are listed with their file, and files that could not be run with their error", () => {
  expect(failuresIn(report)).toEqual(["tests/a.test.ts: No such module", "tests/b.test.ts > a suite > fails"]);
});

test("a file that could not be run counts as a failed test", () => {
  expect(countsIn([report])).toBe("3 passed, 2 failed, 2 skipped");
});

test("the counts of several suites are added, and a missing report counts as a failed test", () => {
  expect(countsIn([report, undefined, report])).toBe("6 passed, 5 failed, 4 skipped");
});

test("a suite runs its projects, and with paths the tests of any suite", () => {
  expect(testArguments("tests")).toContain("--project=shared process");
  expect(testArguments("tests")).not.toContain("--project=programs");
  expect(testArguments("programs")).toContain("--project=programs");
});

test("the error of each failed test is listed", () => {
  expect(errorsIn(report)).toEqual(["fails\n    Error: 1 is not 2\n      at c"]);
});
