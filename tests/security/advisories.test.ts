import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));
const page = readFileSync(new URL("../../docs/internals/security-model.md", import.meta.url), "utf8");

/** Other implementations' advisories, each with a test that carries out its attack. */
const advisories = [
  "CVE-2025-6514",
  "CVE-2025-66414",
  "CVE-2026-0621",
  "CVE-2026-104850",
  "CVE-2026-111767",
  "CVE-2026-111768",
  "CVE-2026-111769",
  "CVE-2026-111770",
  "GHSA-84j6-jc92-77jm",
  "GHSA-f897-62hf-6gxq",
  "GHSA-rvq5-wwqv-78pq",
];

const id = /CVE-\d{4}-\d+|GHSA(?:-[\da-z]{4}){3}/g;

interface Test {
  file: string;
  advisory: string;
}

/** The tests of this folder whose name begins with an advisory. A skipped test does not count. */
const tests: Test[] = readdirSync(folder)
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) =>
    [...readFileSync(folder + file, "utf8").matchAll(/\btest(?:\.each[^;]*?)?\(\s*["'`]((?:CVE|GHSA)-[\w-]+): /g)].map(
      ([, advisory = ""]) => ({ file, advisory }),
    ),
  );

const unique = (ids: Iterable<string>): string[] => [...new Set(ids)].toSorted();

test("docs/internals/security-model.md names each advisory, and no other", () => {
  expect(unique(page.match(id) ?? [])).toEqual(advisories);
});

test("each advisory has a test, and each test has an advisory", () => {
  expect(unique(tests.map(({ advisory }) => advisory))).toEqual(advisories);
});

test.each(advisories)("docs/internals/security-model.md names the file of the tests for %s", (advisory) => {
  const row = page.split("\n").find((line) => line.startsWith(`| ${advisory} `)) ?? "";
  const named = [...row.matchAll(/`([\w-]+\.test\.ts)`/g)].map(([, file = ""]) => file);
  expect(unique(named)).toEqual(unique(tests.filter((test) => test.advisory === advisory).map(({ file }) => file)));
});
