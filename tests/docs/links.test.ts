import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].concat(
  readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.join("docs", name)),
);

/** The files of this repository that a page links to. */
function linkedFiles(page: string): string[] {
  const text = readFileSync(path.join(root, page), "utf8").replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
  const targets = [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/i.test(target));
}

test.each(pages)("the links of %s lead to files", (page) => {
  const missing = linkedFiles(page).filter((target) => !existsSync(path.join(root, path.dirname(page), target)));
  expect(missing).toEqual([]);
});

test("each pitfall names a test", () => {
  const rows = readFileSync(path.join(root, "docs/pitfalls.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| (Failure|-)/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => !/\.test\.ts\)/.test(row))).toEqual([]);
});
