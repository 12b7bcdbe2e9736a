// @ts-check
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { titleOf, withoutFrontMatter } from "./markdown.mjs";
import { root } from "./pages.mjs";
import { readRedirects, redirectsFile, withMappings } from "./redirects.mjs";

/**
 * Records that pages of `docs` were moved or joined: `node site/scripts/moves.mjs FILE...`, after the pages are in their place.
 *
 * A file has a line for each page or section, with paths below `docs`: `old.md new.md`, `old.md new.md#section` or
 * `old.md#section new.md#section`. Writes the new addresses into `site/redirects.json`. Then corrects the lists of `docs/README.md`: it removes
 * pages that do not exist and second entries, adds missing pages to the section of their folder, and updates the titles.
 */

const index = path.join(root, "docs/README.md");

let redirects = readRedirects();
for (const file of process.argv.slice(2)) redirects = withMappings(redirects, readFileSync(file, "utf8"));
writeFileSync(redirectsFile, `${JSON.stringify(redirects, undefined, 2)}\n`);
writeFileSync(index, correctedIndex(readFileSync(index, "utf8")));
execFileSync(process.execPath, [path.join(root, "node_modules/oxfmt/bin/oxfmt"), redirectsFile, index]);

/** @param {string} text */
function correctedIndex(text) {
  /** @type {Set<string>} */
  const listed = new Set();
  const lines = text.split("\n").flatMap((line) => {
    const [, target] = /^- \[[^\]]*\]\(([^)]+)\)$/.exec(line) ?? [];
    if (target === undefined) return [line];
    const file = path.join(root, "docs", target);
    if (target.includes("#") || listed.has(target) || !existsSync(file)) return [];
    listed.add(target);
    return [entryOf(target)];
  });
  const missing = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => file.endsWith(".md") && file.includes("/") && !file.startsWith("internals/adr/"))
    .filter((file) => !listed.has(file));
  for (const file of missing.toSorted()) {
    const folder = `](${path.posix.dirname(file)}/`;
    const last = lines.findLastIndex((line) => line.startsWith("- [") && line.includes(folder));
    if (last === -1) throw new Error(`docs/README.md has no list for ${file}.`);
    lines.splice(last + 1, 0, entryOf(file));
  }
  return lines.join("\n");
}

/** @param {string} target a path from `docs` */
function entryOf(target) {
  return `- [${titleOf(withoutFrontMatter(readFileSync(path.join(root, "docs", target), "utf8")))}](${target})`;
}
