import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { requirements } from "./data/all.ts";

/** A folder that holds the texts of the specification as its site has them: `2025-11-25/basic/lifecycle.mdx`. */
const texts = process.env.MCP_SPECIFICATION_TEXTS ?? "";

test.skipIf(texts === "")("every section that is referred to exists", () => {
  const dangling = requirements.filter(({ section }) => !exists(section)).map(({ id, section }) => `${id}: ${section}`);
  expect(dangling).toEqual([]);
});

function exists(section: string): boolean {
  const [page = "", anchor] = section.split("#");
  const base = path.join(texts, page);
  const file = [`${base}.mdx`, path.join(base, "index.mdx"), `${base}.md`].find((name) => existsSync(name));
  if (!file) return false;
  return anchor === undefined || anchors(file).includes(anchor);
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
