import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(path.join(root, "docs/internals/broken-peers.md"), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("|") && !/^\| (Situation|-)/.test(line));
const proof = /\[[\w-]+\]\(\.\.\/\.\.\/(packages\/[\w-]+\/src\/[\w/-]+\.test\.ts)\): `([^`]+)` +\|$/;

test("the page has at least 20 situations, each once", () => {
  const situations = rows.map((row) => row.split(" | ")[0]);
  expect(situations.length).toBeGreaterThanOrEqual(20);
  expect(new Set(situations).size).toBe(situations.length);
});

test.each(rows)("names a test that exists: %s", (row) => {
  const [, file = "", title = ""] = proof.exec(row) ?? [];
  // The tests beside the sources are part of `npm test`.
  expect(file).not.toBe("");
  const source = readFileSync(path.join(root, file), "utf8");
  expect(source).toContain(`${JSON.stringify(title)},`);
});
