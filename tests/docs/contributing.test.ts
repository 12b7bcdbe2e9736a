import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
/** The scripts in the first cells of tables: `npm test` or `npm run NAME`, with or without options. */
const described = [...read("CONTRIBUTING.md").matchAll(/^\| `npm (?:run )?([\w:-]+)(?: -- [^`]*)?`/gm)].map(
  ([, name = ""]) => name,
);

test("CONTRIBUTING.md describes each script of package.json in a row of a table", () => {
  expect(Object.keys(scripts).filter((name) => !described.includes(name))).toEqual([]);
});

test("CONTRIBUTING.md describes no script that does not exist, and none twice", () => {
  expect(described.filter((name) => !(name in scripts))).toEqual([]);
  expect(described.filter((name, index) => described.indexOf(name) !== index)).toEqual([]);
});
