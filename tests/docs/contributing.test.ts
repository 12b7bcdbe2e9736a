import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checks } from "../../scripts/checks.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const rows = [...read("CONTRIBUTING.md").matchAll(/^\| `([^`]+)` *\| (.*?) *\|$/gm)].map(
  ([, cell = "", does = ""]) => ({
    cell,
    does,
  }),
);

test("CONTRIBUTING.md describes each script of package.json, and no other", () => {
  const described = rows.flatMap(({ cell }) => /^npm (?:run )?([\w:-]+)/.exec(cell)?.[1] ?? []);
  expect([...new Set(described)].toSorted()).toEqual(Object.keys(scripts).toSorted());
});

test("CONTRIBUTING.md lists each check with the text of npm run check", () => {
  const listed = rows.filter(({ cell }) => cell in checks).map(({ cell, does }) => [cell, does]);
  expect(listed).toEqual(Object.entries(checks).map(([name, { does }]) => [name, does]));
});

test("package.json has at most 12 scripts", () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(12);
});
