// @ts-check
import { isExternal, linksIn } from "./markdown.mjs";

/**
 * A section of the site: a heading of the second level in `docs/README.md`, with the pages that are linked below it.
 *
 * @typedef {object} Section
 * @property {string} title
 * @property {Group[]} groups the links directly below the heading, then one group for each heading of the third level
 *
 * @typedef {object} Group
 * @property {string | undefined} title undefined for the links directly below the heading of the section
 * @property {string[]} files paths from the root of the repository: `docs/servers/tools.md`
 */

/**
 * Reads the navigation from the index of the guides, so that no second list of pages exists. A page that is linked more than
 * once belongs to the first section. A link to a heading, such as `tools.md#results`, places no page.
 *
 * @param {string} index the text of `docs/README.md`
 * @returns {Section[]}
 */
export function readNavigation(index) {
  const [, ...parts] = index.split(/^## /m);
  /** @type {Set<string>} */
  const seen = new Set();
  return parts.map((part) => {
    const [head = "", ...subsections] = part.split(/^### /m);
    const [title, rest] = splitHeading(head);
    const groups = [
      { title: undefined, files: filesIn(rest, seen) },
      ...subsections.map((subsection) => {
        const [name, body] = splitHeading(subsection);
        return { title: name, files: filesIn(body, seen) };
      }),
    ];
    return { title, groups: groups.filter(({ files }) => files.length > 0) };
  });
}

/** The pages of a section in their order. @param {Section} section */
export function filesOf(section) {
  return section.groups.flatMap(({ files }) => files);
}

/**
 * Throws if a guide is in no section. The decisions are exempt: their own index lists them.
 *
 * @param {readonly Section[]} sections
 * @param {readonly string[]} guides paths from the root of the repository
 */
export function checkListed(sections, guides) {
  const listed = new Set(["docs/README.md", ...sections.flatMap(filesOf)]);
  const missing = guides.filter((file) => !listed.has(file) && !file.startsWith("docs/internals/adr/"));
  if (missing.length > 0)
    throw new Error(`docs/README.md lists no link to ${missing.join(", ")}. Add each page to a section.`);
}

/** @param {string} text @returns {[string, string]} */
function splitHeading(text) {
  const end = text.indexOf("\n");
  return end === -1 ? [text.trim(), ""] : [text.slice(0, end).trim(), text.slice(end)];
}

/** The pages that a part of the index links and that no earlier part has. @param {string} text @param {Set<string>} seen */
function filesIn(text, seen) {
  const files = linksIn(text)
    .filter((target) => !isExternal(target) && target.endsWith(".md"))
    .map((target) => new URL(target, "file:///docs/").pathname.slice(1));
  const added = [...new Set(files)].filter((file) => !seen.has(file));
  for (const file of added) seen.add(file);
  return added;
}
