// @ts-check
import { load } from "js-yaml";

const frontMatter = /^---\n([\s\S]*?)^---\n+/m;

/** The text of a page without the YAML at its start, which only the search reads. @param {string} text */
export function withoutFrontMatter(text) {
  return text.startsWith("---\n") ? text.replace(frontMatter, "") : text;
}

/**
 * The words under which the search finds a page that does not contain them: `aliases` of the YAML at its start.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function aliasesOf(text) {
  const [, yaml] = (text.startsWith("---\n") && frontMatter.exec(text)) || [];
  if (yaml === undefined) return [];
  const { aliases = [], ...others } = /** @type {{ aliases?: unknown }} */ (load(yaml) ?? {});
  const isList = Array.isArray(aliases) && aliases.every((alias) => typeof alias === "string");
  if (!isList || Object.keys(others).length > 0)
    throw new Error(`The front matter of a page has other members than a list of texts "aliases": ${yaml.trim()}`);
  return aliases;
}

/**
 * Returns the text outside fenced code blocks with `replace` applied to it, and the blocks unchanged.
 *
 * @param {string} text
 * @param {(prose: string) => string} replace
 */
export function mapProse(text, replace) {
  return text
    .split(/^(```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith("```") ? part : replace(part)))
    .join("");
}

/**
 * Returns a page with `replace` applied to each link. `replace` returns the new target, or undefined to keep only the label.
 * Code is unchanged.
 *
 * @param {string} text
 * @param {(target: string) => string | undefined} replace
 */
export function mapLinks(text, replace) {
  const codeOrLink = /(`+)[\s\S]*?\1|\[((?:`[^`]*`|[^[\]`])*)\]\(([^)\s]+)\)/g;
  return mapProse(text, (prose) =>
    prose.replaceAll(codeOrLink, (match, ...groups) => {
      const [, label, target] = groups;
      if (target === undefined) return match;
      const replaced = replace(target);
      return replaced === undefined ? label : `[${label}](${replaced})`;
    }),
  );
}

/** The targets of the links of a text. @param {string} text @returns {string[]} */
export function linksIn(text) {
  /** @type {string[]} */
  const found = [];
  mapLinks(text, (target) => {
    found.push(target);
    return target;
  });
  return found;
}

/** Whether a link leads to another host, such as `https:` or `mailto:`. @param {string} target */
export function isExternal(target) {
  return /^[a-z][a-z+.-]*:/i.test(target);
}

/** The text of the first heading, without marks. @param {string} text */
export function titleOf(text) {
  const [, title] = /^# (.*)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`A page has no heading of the first level: ${text.slice(0, 60)}`);
  return plain(title);
}

/** The first paragraph below the title in one line, without marks, for a summary. @param {string} text */
export function summaryOf(text) {
  const [, ...blocks] = text.slice(text.search(/^# /m)).split(/\n{2,}/);
  const paragraph = blocks.find((block) => /^[\w`[*"]/.test(block)) ?? "";
  return plain(paragraph.replaceAll("\n", " ").trim());
}

/** The first sentence. A colon before a sample becomes a full stop. @param {string} text */
export function firstSentence(text) {
  return (/^.*?[.:?](?= [A-Z"`]|$)/.exec(text)?.[0] ?? text).replace(/:$/, ".");
}

/** @param {string} text */
function plain(text) {
  return text.replaceAll(/\[((?:`[^`]*`|[^[\]`])*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
}

/**
 * The anchor of a heading, as GitHub writes it. The guides are read there too, so the site must use the same anchors.
 *
 * @param {string} heading
 */
export function anchorOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
