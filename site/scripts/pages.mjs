// @ts-check
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { aliasesOf, isExternal, mapLinks, summaryOf, titleOf, withoutFrontMatter } from "./markdown.mjs";
import { repository } from "../../scripts/release/project.mjs";
import { checkListed, filesOf, readNavigation } from "./navigation.mjs";

/**
 * A page of the site.
 *
 * @typedef {object} Page
 * @property {string} source path from the root of the repository: `docs/servers/tools.md`
 * @property {string} path path on the site: `tools.md`
 * @property {string} title
 * @property {string} summary the first paragraph
 * @property {string} text Markdown with the links of the site
 * @property {string[]} aliases words under which the search also finds the page
 */

/** The repository's root folder. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Pages whose path on the site is not the path below `docs`. @type {Readonly<Record<string, string>>} */
const renamed = {
  "README.md": "index.md",
  "docs/README.md": "guides.md",
  "docs/internals/adr/README.md": "internals/adr/index.md",
  "packages/create-mcparley/README.md": "create-mcparley.md",
  "packages/config/README.md": "config.md",
  "packages/host/README.md": "host-package.md",
  "packages/redis/README.md": "redis.md",
  // `docs/operate/security.md` has the other name.
  "SECURITY.md": "security-policy.md",
};

/** The sections of the index. Throws if a guide is in none. */
export function navigation() {
  const sections = readNavigation(read("docs/README.md"));
  checkListed(sections, markdownIn("docs"));
  return sections;
}

/** Reads all pages that are written by hand: the guides, and the pages outside `docs` that the index lists. @returns {Page[]} */
export function readPages() {
  const listed = navigation()
    .flatMap(filesOf)
    .filter((file) => !file.startsWith("docs/"));
  const sources = [...new Set([...listed, "README.md", ...markdownIn("docs")])];
  const paths = new Map(sources.map((source) => [source, sitePath(source)]));
  return sources.map((source) => {
    const written = read(source);
    const text = mapLinks(withoutFrontMatter(written), (target) =>
      siteLink(target, { source, paths, address: repository }),
    );
    const aliases = aliasesOf(written);
    return { source, path: sitePath(source), title: titleOf(text), summary: summaryOf(text), text, aliases };
  });
}

/** The path of a page on the site. @param {string} source */
export function sitePath(source) {
  return renamed[source] ?? (source.startsWith("docs/") ? source.slice("docs/".length) : source.toLowerCase());
}

/** The address of a page below the base of the site: `servers/tools` of `servers/tools.md`. @param {string} path */
export function addressOf(path) {
  return path.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "");
}

/**
 * Whether a page is for contributors, or a table that a program writes or checks. The search leaves such pages out, and `llms.txt` lists
 * them last.
 *
 * @param {string} path the path on the site
 */
export function isOptional(path) {
  return /^(internals\/|(contributing|architecture)\.md$|reference\/(entry-members|issuers|runtime-results)\.md$)/.test(
    path,
  );
}

/**
 * Converts a link of a file of the repository to a link of the site. A file that is no page is linked on the forge.
 *
 * @param {string} target
 * @param {{ source: string; paths: ReadonlyMap<string, string>; address: string | undefined }} context
 * @returns {string | undefined} undefined if the target can be linked nowhere
 */
export function siteLink(target, { source, paths, address }) {
  if (isExternal(target) || target.startsWith("#")) return target;
  const [file = "", anchor] = target.split("#");
  // The build copies guides into the packages, whose READMEs link the copies.
  const found = path.posix
    .normalize(path.posix.join(path.posix.dirname(source), file))
    .replace(/\/$/, "")
    .replace(/^packages\/[\w-]+\/docs\b/, "docs");
  // Images are copied beside the pages.
  if (/\.(svg|png)$/.test(found)) return path.posix.relative(path.posix.dirname(sitePath(source)), sitePath(found));
  const page = paths.get(found) ?? paths.get(`${found}/README.md`);
  if (page === undefined) return address === undefined ? undefined : `${address}/blob/main/${found}`;
  const relative = path.posix.relative(path.posix.dirname(sitePath(source)), page);
  return anchor === undefined ? relative : `${relative}#${anchor}`;
}

/** The Markdown files of a folder and its folders, sorted. @param {string} folder */
function markdownIn(folder) {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => path.posix.join(folder, file.split(path.sep).join("/")))
    .filter((file) => existsSync(path.join(root, file)))
    .toSorted();
}

/** @param {string} file */
function read(file) {
  return readFileSync(path.join(root, file), "utf8");
}
