import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { requirements } from "./data/all.ts";

/** The anchors of each page of the specification to which a requirement refers. */
type Sections = Readonly<Record<string, readonly string[]>>;

const list = fileURLToPath(new URL("sections.json", import.meta.url));

/**
 * A folder that contains the texts of the specification under the paths of its site: `2025-11-25/basic/lifecycle.mdx`. With
 * it the test updates `sections.json`. Without it only the list is used: the texts are not part of this repository.
 */
const texts = process.env.MCP_SPECIFICATION_TEXTS ?? "";

test("every section that a requirement refers to exists", () => {
  if (texts !== "") writeFileSync(list, `${JSON.stringify(sectionsOf(texts), null, 2)}\n`);
  const known = JSON.parse(readFileSync(list, "utf8")) as Sections;
  const dangling = requirements.filter(({ section }) => !exists(section, known));
  expect(dangling.map(({ id, section }) => `${id}: ${section}`)).toEqual([]);
});

function exists(section: string, known: Sections): boolean {
  const [page = "", anchor] = section.split("#");
  return known[page] !== undefined && (anchor === undefined || known[page].includes(anchor));
}

function sectionsOf(folder: string): Sections {
  const pages = [...new Set(requirements.map(({ section }) => section.split("#")[0] ?? ""))].toSorted();
  return Object.fromEntries(
    pages.flatMap((page) => {
      const base = path.join(folder, page);
      const file = [`${base}.mdx`, path.join(base, "index.mdx"), `${base}.md`].find((name) => existsSync(name));
      return file ? [[page, anchors(file)]] : [];
    }),
  );
}

function anchors(file: string): string[] {
  const headings = readFileSync(file, "utf8").matchAll(/^#{1,6} (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, "")
      .trim()
      .replaceAll(/ +/g, "-"),
  );
}
