// @ts-check
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileOf } from "./serve.mjs";

/**
 * Checks the links of a built site: each leads to a page or a file of the site, and each anchor to an element of that page.
 * Links to other hosts are not requested. A script, style, font or image of another host is an error.
 *
 * @param {string} folder
 * @param {{ base: string }} options the path at which the site is served
 */
export function checkLinks(folder, { base }) {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"));
  const read = cached((/** @type {string} */ file) => parseHtml(readFileSync(file, "utf8")));
  /** @type {string[]} */
  const errors = [];
  let count = 0;
  for (const page of pages.toSorted()) {
    const file = path.join(folder, page);
    const address = new URL(page.split(path.sep).join("/"), `http://site${base}`);
    for (const { target, loads } of read(file).links) {
      count++;
      const error = problemOf(target, { loads, address, folder, base, read, file });
      if (error !== undefined) errors.push(`${page}: ${target} ${error}`);
    }
  }
  return { pages: pages.length, links: count, errors };
}

/**
 * @param {string} target
 * @param {{ loads: boolean; address: URL; folder: string; base: string; file: string; read: (file: string) => Html }} context
 * @returns {string | undefined}
 */
function problemOf(target, { loads, address, folder, base, read, file }) {
  const url = new URL(target, address);
  if (url.protocol === "data:" || url.protocol === "mailto:") return undefined;
  if (url.host !== address.host) return loads ? "is loaded from another host" : undefined;
  if (!url.pathname.startsWith(base)) return `is outside ${base}`;
  const isSamePage = target.startsWith("#") || target === "";
  const found = isSamePage ? file : fileOf(folder, decodeURIComponent(url.pathname.slice(base.length)));
  if (found === undefined) return "does not exist";
  const anchor = decodeURIComponent(url.hash.slice(1));
  if (anchor === "" || !found.endsWith(".html") || read(found).ids.has(anchor)) return undefined;
  return "names an anchor that the page does not have";
}

/**
 * @typedef {object} Html
 * @property {{ target: string; loads: boolean }[]} links `loads` is true for what the browser requests without a click
 * @property {Set<string>} ids
 * @property {{ target: string; label: string }[]} images
 */

/** The links and anchors of a page. @param {string} html @returns {Html} */
export function parseHtml(html) {
  const elements = [...html.matchAll(/<([a-z][\w-]*)((?:\s+[^\s=>"']+(?:="[^"]*")?)*)\s*\/?>/gi)];
  /** @type {Html["links"]} */
  const links = [];
  /** @type {Set<string>} */
  const ids = new Set();
  /** @type {Html["images"]} */
  const images = [];
  for (const [, name = "", text = ""] of elements) {
    const attributes = new Map(
      [...text.matchAll(/([^\s=]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, unescape(value)]),
    );
    const id = attributes.get("id");
    if (id !== undefined) ids.add(id);
    if (name === "img") images.push({ target: attributes.get("src") ?? "", label: attributes.get("alt") ?? "" });
    const loads = name !== "a";
    for (const target of [attributes.get("href"), attributes.get("src")]) {
      if (target !== undefined) links.push({ target, loads });
    }
  }
  return { links, ids, images };
}

/** @param {string} text */
function unescape(text) {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/** @template T @param {(key: string) => T} make @returns {(key: string) => T} */
function cached(make) {
  /** @type {Map<string, T>} */
  const values = new Map();
  return (key) => {
    const known = values.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    values.set(key, made);
    return made;
  };
}
