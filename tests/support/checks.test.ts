import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { checks, listing, planOf } from "../../scripts/checks.mjs";
import { root } from "../../scripts/ready.mjs";

const names = Object.keys(checks);

describe("npm run check", () => {
  test("lists each check in one line with one or two sentences", () => {
    const lines = listing().split("\n");
    for (const name of names) {
      expect(lines.filter((line) => line.startsWith(`  ${name} `))).toEqual([expect.stringMatching(/^ {2}\S+ +.*\.$/)]);
    }
  });

  test.each(names)("has the programs of %s", (name) => {
    const [plan] = planOf([name]);
    expect(plan?.programs.length).toBeGreaterThan(0);
    expect(plan?.programs.filter(([file = ""]) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  test("gives the options to the last check, and only to its last program", () => {
    expect(planOf(["types", "interop", "--sign-in", "--only", "tmcp"])).toEqual([
      { name: "types", programs: checks["types"]?.programs },
      { name: "interop", programs: [["tests/interop/run.mjs", "--sign-in", "--only", "tmcp"]] },
    ]);
    const [, , tests = []] = planOf(["types"])[0]?.programs ?? [];
    expect(planOf(["types", "--watch"])[0]?.programs.at(-1)).toEqual([...tests, "--watch"]);
  });

  test("runs the tests of a path in any suite", () => {
    const [program = []] = planOf(["tests", "--", "tests/chat"])[0]?.programs ?? [];
    expect(program.at(-1)).toBe("tests/chat");
    expect(program.filter((word) => word.startsWith("--project"))).toEqual([]);
    expect(planOf(["tests", "--"])).toEqual(planOf(["tests"]));
  });

  test("refuses an unknown name with the nearest names", () => {
    expect(() => planOf(["conformence"])).toThrow('There is no check "conformence". Did you mean conformance, ');
    expect(() => planOf(["lint", "keycloack", "--update"])).toThrow("Did you mean keycloak, ");
    expect(() => planOf(["toString"])).toThrow('There is no check "toString".');
  });
});
