// @ts-check

/**
 * What is used of the package minisearch, which is installed for a build of the site only.
 *
 * @typedef {object} SearchResult
 * @property {any} id the address of a section
 * @property {number} score
 * @property {string[]} queryTerms the words of the query that the section has
 *
 * @typedef {{ search: (query: string, options: any) => SearchResult[] }} MiniSearch
 */

/** The fields of a section of a page in the index. `aliases` has the words of the front matter of its page. */
export const fields = ["title", "aliases", "titles", "text"];

/** The members of a section that a result has. */
export const storeFields = ["title", "titles"];

/** The most sections of one page in the results, so that a long page leaves room for others. */
const sectionsOfPage = 3;

/** Words that say little. They are required only if the query has no other words. */
const fillers = new Set([
  "a",
  "an",
  "and",
  "are",
  "by",
  "can",
  "do",
  "for",
  "from",
  "how",
  "i",
  "in",
  "is",
  "it",
  "my",
  "of",
  "on",
  "or",
  "the",
  "this",
  "to",
  "use",
  "what",
  "when",
  "why",
  "with",
]);

/**
 * The words of a text. A compound such as `mcp-session-id` is also a word, so that it outranks its parts in other sentences.
 *
 * @param {string} text
 */
export function tokenize(text) {
  return (text.match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu) ?? []).flatMap((word) => {
    const parts = word.split(/[-_.]/);
    return parts.length === 1 ? parts : [word, ...parts];
  });
}

/** A word as it is in the index: in lower case, and without the ending of a plural. @param {string} word */
export function processTerm(word) {
  return word.toLowerCase().replace(/(?<=\w{3})(?<!s)s$/, "");
}

/**
 * Searches the guides. Sections that contain all words have precedence over those with similar words, and these over those with some of
 * the words.
 *
 * @param {MiniSearch} index
 * @param {string} query
 * @returns {SearchResult[]}
 */
export function search(index, query) {
  const words = query.split(/\s+/).filter((word) => !fillers.has(word.toLowerCase()));
  const wanted = words.join(" ").trim() === "" ? query : words.join(" ");
  const exact = {
    fields,
    tokenize,
    processTerm,
    boost: { title: 5, aliases: 25, titles: 2, text: 1 },
    boostDocument: weightOf,
    combineWith: "AND",
    prefix: isPrefix,
    weights: { prefix: 0.3, fuzzy: 0.2 },
  };
  const results = [
    ...index.search(wanted, exact),
    ...index.search(wanted, { ...exact, fuzzy: isFuzzy }),
    ...byShare(index.search(wanted, { ...exact, combineWith: "OR", fuzzy: isFuzzy })),
  ];
  return limited(results);
}

/** Whether longer words match, such as "elicitation" for "elicit". @param {string} word */
function isPrefix(word) {
  return word.length > 2;
}

/** How many letters can differ. @param {string} word */
function isFuzzy(word) {
  return word.length > 4 ? 0.2 : false;
}

/**
 * The weight of a section. Guides explain what the API reference and the glossary list, and what the pages about other libraries mention.
 * A text that several sections have, such as "Internal error", is often a pasted message.
 *
 * @param {string} id the address of the section
 */
function weightOf(id) {
  const [, kind = ""] = /\/(api|migrate|guides|glossary|troubleshooting)(?=[/#]|$)/.exec(id) ?? [];
  const weight = { api: 0.25, migrate: 0.4, guides: 0.1, glossary: 0.5, troubleshooting: 1.6 }[kind] ?? 1;
  return id.includes("#") ? weight : 1.3 * weight;
}

/** Orders results by the share of the words that they contain. @param {SearchResult[]} results */
function byShare(results) {
  const weight = (/** @type {SearchResult} */ { score, queryTerms }) => score * queryTerms.length ** 2;
  return results.toSorted((one, other) => weight(other) - weight(one));
}

/** The first result for each section, and a few sections of each page. @param {readonly SearchResult[]} results */
function limited(results) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const seen = new Set();
  return results.filter(({ id }) => {
    const [page] = String(id).split("#");
    const count = counts.get(page ?? "") ?? 0;
    if (seen.has(id) || count >= sectionsOfPage) return false;
    seen.add(id);
    counts.set(page ?? "", count + 1);
    return true;
  });
}
