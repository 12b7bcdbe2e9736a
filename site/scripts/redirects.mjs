// @ts-check
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseHtml } from "./links.mjs";
import { addressOf, root, sitePath } from "./pages.mjs";

/**
 * Addresses that pages and sections of the site had, each with its new one. An address has no extension, and can have an anchor:
 * `tools` or `servers/tools#errors`.
 *
 * @typedef {Record<string, string>} Redirects
 */

/** The file that contains all former addresses. */
export const redirectsFile = path.join(root, "site/redirects.json");

/** @returns {Redirects} */
export function readRedirects() {
  return JSON.parse(readFileSync(redirectsFile, "utf8"));
}

/**
 * Adds mappings of files below `docs`, such as `tools.md servers/tools.md#results`, one for each line. Each address then leads to its
 * newest one without another redirect.
 *
 * @param {Redirects} redirects
 * @param {string} mappings
 * @returns {Redirects}
 */
export function withMappings(redirects, mappings) {
  const added = Object.fromEntries(
    mappings
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([from = "", to = ""]) => /\.md(#|$)/.test(from) && /\.md(#|$)/.test(to))
      .map(([from = "", to = ""]) => [addressOfDoc(from), addressOfDoc(to)])
      .filter(([from, to]) => from !== to),
  );
  /** @type {Redirects} */
  const all = { ...redirects, ...added };
  // A page that has moved back to a former address is a page again.
  for (const to of Object.values(added)) if (added[to] === undefined) delete all[to];
  // A section of a page that moved before can be moved again.
  for (const [from, to] of Object.entries(redirects))
    for (const [section, target] of Object.entries(added)) {
      const [page, anchor] = section.split("#");
      if (anchor !== undefined && page === to && !from.includes("#")) all[`${from}#${anchor}`] ??= target;
    }
  const resolved = Object.keys(all).map((from) => [from, newestOf(from, all)]);
  return Object.fromEntries(resolved.filter(([from, to]) => from !== to).toSorted());
}

/**
 * The newest address of a former one, or the address itself.
 *
 * @param {string} address
 * @param {Redirects} redirects
 */
export function newestOf(address, redirects) {
  let newest = address;
  for (const seen = new Set(); !seen.has(newest);) {
    seen.add(newest);
    const [page = "", anchor] = newest.split("#");
    const moved = redirects[page];
    const isWhole = moved === undefined || anchor === undefined || moved.includes("#");
    newest = redirects[newest] ?? (isWhole ? (moved ?? newest) : `${moved}#${anchor}`);
  }
  return newest;
}

/** The sections that moved away from a page, by their anchors. @param {string} page @param {Redirects} redirects */
export function movedSections(page, redirects) {
  const entries = Object.entries(redirects).filter(([from]) => from.startsWith(`${page}#`));
  return Object.fromEntries(entries.map(([from, to]) => [from.slice(page.length + 1), to]));
}

/**
 * Writes a page for each former address into a built site, which leads to the new one. A page that exists keeps its address.
 *
 * @param {string} folder the built site
 * @param {{ base: string; redirects?: Redirects }} options
 */
export function writeRedirects(folder, { base, redirects = readRedirects() }) {
  const pages = new Set(Object.keys(redirects).map((from) => from.split("#")[0] ?? ""));
  for (const from of pages) {
    const to = redirects[from];
    if (to === undefined) continue;
    const [target = ""] = to.split("#");
    const file = path.join(folder, target.endsWith("/") ? `${target}index.html` : `${target}.html`);
    const anchors = [...parseHtml(readFileSync(file, "utf8")).ids].filter((id) => !/^(app|VP|local)/i.test(id));
    const html = redirectPage({ to, base, anchors, sections: movedSections(from, redirects) });
    for (const name of filesOf(from, folder)) write(path.join(folder, name), html);
    if (!from.endsWith("/"))
      write(path.join(folder, `${from}.md`), `This page has moved to [${to}](${base}${markdownOf(to)}).\n`);
  }
}

/** The files of an address. A host can prefer the folder of the same name. @param {string} from @param {string} folder */
function filesOf(from, folder) {
  if (from.endsWith("/")) return [`${from}index.html`];
  const directory = path.join(folder, from);
  const isFolder = existsSync(directory) && statSync(directory).isDirectory();
  return isFolder ? [`${from}.html`, `${from}/index.html`] : [`${from}.html`];
}

/**
 * A page that leads to another address. A given anchor is kept if the new page has it. Without JavaScript, the browser follows the
 * address of the page.
 *
 * @param {{ to: string; base: string; anchors: readonly string[]; sections: Record<string, string> }} options
 */
export function redirectPage({ to, base, anchors, sections }) {
  const address = base + to;
  const [page = ""] = address.split("#");
  const data = { address, page, base, anchors, sections };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="robots" content="noindex">
    <title>This page has moved</title>
    <link rel="canonical" href="${page}">
    <script>
      const { address, page, base, anchors, sections } = ${JSON.stringify(data).replaceAll("<", "\\u003c")};
      const anchor = decodeURIComponent(location.hash.slice(1));
      if (Object.hasOwn(sections, anchor)) location.replace(base + sections[anchor]);
      else location.replace(anchors.includes(anchor) ? page + location.hash : address);
    </script>
    <noscript><meta http-equiv="refresh" content="0; url=${address}"></noscript>
  </head>
  <body>
    <p>This page has moved to <a href="${address}">${to}</a>.</p>
  </body>
</html>
`;
}

/** The address of a file below `docs`, with its anchor. @param {string} file */
function addressOfDoc(file) {
  const [name = "", anchor] = file.split("#");
  // The index of a folder had the address of the folder, also before the folder was moved.
  const address = addressOf(sitePath(`docs/${name}`)).replace(/(^|\/)README$/, "$1");
  return anchor === undefined ? address : `${address}#${anchor}`;
}

/** The Markdown of an address. @param {string} address */
function markdownOf(address) {
  return address.replace(
    /([^#]*)(#.*)?$/,
    (_, page = "", anchor = "") => `${page.replace(/\/$/, "/index")}.md${anchor}`,
  );
}

/** @param {string} file @param {string} text */
function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
