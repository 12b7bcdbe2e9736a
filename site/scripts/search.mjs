// @ts-check
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import MiniSearch from "minisearch";
import { fields, processTerm, search, storeFields, tokenize } from "../.vitepress/ranking.mjs";
import { root } from "./pages.mjs";
import { newestOf, readRedirects } from "./redirects.mjs";

/** Queries of readers, each with the pages of which one must be among the first results. */
const queries = path.join(root, "tests/site/search-queries.json");

/**
 * Searches the index of a built site for the queries of `tests/site/search-queries.json`, with the order of results that readers see.
 *
 * @param {string} folder
 * @param {{ base: string; among?: number }} options `among` is the number of pages in which an expected page must be
 */
export async function checkSearch(folder, { base, among = 3 }) {
  const index = await readIndex(folder);
  const redirects = readRedirects();
  /** @type {string[]} */
  const errors = [];
  let first = 0;
  const rows = /** @type {string[][]} */ (JSON.parse(readFileSync(queries, "utf8")));
  for (const [query = "", ...expected] of rows) {
    const newest = expected.map((page) => newestOf(page, redirects).split("#")[0]);
    const pages = pagesOf(search(index, query), base);
    const rank = pages.findIndex((page) => newest.includes(page));
    if (rank === 0) first++;
    if (rank === -1 || rank >= among) errors.push(`${query}: finds ${pages.slice(0, among).join(", ") || "nothing"}`);
  }
  return { queries: rows.length, first, errors, sections: index.documentCount };
}

/** The index that the pages of a built site load. @param {string} folder */
async function readIndex(folder) {
  const chunks = path.join(folder, "assets/chunks");
  const [name] = readdirSync(chunks).filter((file) => file.startsWith("@localSearchIndex"));
  if (name === undefined) throw new Error(`${folder} has no index for the search.`);
  // Node reads the file as a module, because site/package.json says so.
  const { default: json } = await import(pathToFileURL(path.join(chunks, name)).href);
  return MiniSearch.loadJSON(json, { fields, storeFields, tokenize, processTerm });
}

/** The addresses of the pages of the results that a reader sees. @param {readonly { id: string }[]} results @param {string} base */
function pagesOf(results, base) {
  return [...new Set(results.slice(0, 16).map(({ id }) => id.slice(base.length).split("#")[0] ?? ""))];
}
