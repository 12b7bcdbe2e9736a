import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pagesOfDocs } from "../../scripts/guides.mjs";
import { publishedPackages } from "../../scripts/packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readmes = publishedPackages().map(({ folder }) => path.join(folder, "README.md"));
const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", ...readmes].concat(
  readdirSync(path.join(root, "examples"), { recursive: true, encoding: "utf8" })
    .filter((name) => path.basename(name) === "README.md" && !name.includes("node_modules"))
    .map((name) => path.join("examples", name)),
  readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.join("docs", name)),
);

interface Link {
  /** The path from the page, or an empty string for a link within the page. */
  target: string;
  /** The heading after `#`, as GitHub writes it. */
  anchor: string | undefined;
}

/** The file of the repository that a link names. The build copies guides into the packages. */
function fileOf(page: string, target: string): string {
  return path.join(path.dirname(page), target).replace(/^packages\/[\w-]+\/docs\b/, "docs");
}

/** The links of a page to files of this repository. */
function linksOf(page: string): Link[] {
  const text = readFileSync(path.join(root, page), "utf8").replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)];
  return links.map(([, target = "", anchor]) => ({ target, anchor })).filter(({ target }) => !/^[a-z]+:/i.test(target));
}

/** The anchors that GitHub makes of the headings of a page. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(path.join(root, page), "utf8").replaceAll(/```[\s\S]*?```/g, "");
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading.replaceAll(/\]\([^)]*\)/g, "]"));
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("the links of %s point to existing files and headings", (page) => {
  const missing = linksOf(page).filter(({ target, anchor }) => {
    const file = target === "" ? page : fileOf(page, target);
    if (!existsSync(path.join(root, file))) return true;
    return anchor !== undefined && file.endsWith(".md") && !anchorsOf(file).includes(anchor);
  });
  expect(missing).toEqual([]);
});

test("docs/README.md lists every guide", () => {
  const listed = linksOf("docs/README.md").map(({ target }) => path.join("docs", target));
  const guides = pagesOfDocs()
    .filter((page) => page !== "README.md")
    .map((page) => path.join("docs", page));
  expect(guides.filter((page) => !listed.includes(page))).toEqual([]);
});

test("each pitfall names a test", () => {
  const rows = readFileSync(path.join(root, "docs/internals/pitfalls.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| (Failure|-)/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => !/\.test\.ts\)/.test(row))).toEqual([]);
});
