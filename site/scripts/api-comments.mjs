// @ts-check
import path from "node:path";
import { anchorOf } from "./markdown.mjs";

/**
 * Writes the docstrings of TypeDoc's model as Markdown, with links to the types that they name.
 *
 * @typedef {import("typedoc").Comment} Comment
 *
 * @typedef {object} Context
 * @property {string} path the page that is written: `api/server.md`
 * @property {ReadonlyMap<string, string>} homes the page that documents each exported name
 */

/** The text of a docstring without its tags. @param {Comment | undefined} comment */
export function commentText(comment) {
  return comment?.summary
    .map(({ text }) => text)
    .join("")
    .trim();
}

/** A note if the declaration is deprecated. @param {Comment | undefined} comment */
export function deprecation(comment) {
  const tag = comment?.blockTags.find((block) => block.tag === "@deprecated");
  return tag && `**Deprecated.** ${contentText(tag.content)}`;
}

/** The examples of a docstring, with a line before each that names the member it belongs to. @param {Comment | undefined} comment @param {string} [member] */
export function examples(comment, member) {
  const title = member === undefined ? "**Example**" : `**Example of \`${member}\`**`;
  return (comment?.blockTags ?? [])
    .filter(({ tag }) => tag === "@example")
    .map(({ content }) => `${title}\n\n${contentText(content)}`);
}

/**
 * Links to the exported names that a declaration mentions. Undefined if it mentions none but its own.
 *
 * @param {string} code
 * @param {{ name: string; context: Context }} options
 */
export function mentioned(code, { name, context }) {
  const names = exportedNames(code, context).filter((found) => found !== name);
  return names.length === 0 ? undefined : `Types: ${linksTo(names, context).join(", ")}.`;
}

/** The exported names in a text of TypeScript, each once. @param {string} code @param {Context} context */
export function exportedNames(code, { homes }) {
  const words = code.replaceAll(/"[^"]*"/g, "").match(/\b[A-Z]\w*\b/g) ?? [];
  return [...new Set(words)].filter((word) => homes.has(word));
}

/** @param {readonly string[]} names @param {Context} context */
export function linksTo(names, context) {
  return names.map((name) => `[\`${name}\`](${addressOf(name, context)})`);
}

/** @param {string} name @param {Context} context */
export function addressOf(name, { path: from, homes }) {
  const home = homes.get(name);
  if (home === undefined) throw new Error(`No page of the API reference documents ${name}.`);
  return `${home === from ? "" : path.posix.basename(home)}#${anchorOf(name)}`;
}

/** @param {readonly import("typedoc").CommentDisplayPart[]} content */
function contentText(content) {
  return content
    .map(({ text }) => text)
    .join("")
    .trim();
}
