// @ts-check
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseHtml } from "./links.mjs";
import { mapProse } from "./markdown.mjs";
import { root } from "./pages.mjs";
import { fileOf } from "./serve.mjs";

/**
 * The images of a page, each by the label and the file that its source names. Code has none.
 *
 * @param {{ source: string }} page @param {string} [text] the text of the source
 */
export function imagesOf({ source }, text = readFileSync(path.join(root, source), "utf8")) {
  /** @type {{ label: string; file: string }[]} */
  const images = [];
  mapProse(text, (prose) => {
    for (const [, label = "", target = ""] of prose
      .replaceAll(/`[^`\n]*`/g, "")
      .matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g))
      images.push({ label, file: path.posix.join(path.posix.dirname(source), target) });
    return prose;
  });
  return images;
}

/**
 * Compares the images of a built site with the sources: the page of each image shows it with its label, and the file that it loads has the
 * bytes of the source.
 *
 * @param {string} folder
 * @param {{ base: string; pages: readonly { path: string; images: readonly { label: string; file: string }[] }[] }} options
 */
export function checkImages(folder, { base, pages }) {
  /** @type {string[]} */
  const errors = [];
  for (const { path: page, images } of pages) {
    const file = path.join(folder, page.replace(/\.md$/, ".html"));
    const address = new URL(page, `http://site${base}`);
    const shown = existsSync(file) ? parseHtml(readFileSync(file, "utf8")).images : [];
    for (const image of images) {
      const sources = shown.filter(({ label }) => label === image.label).map(({ target }) => new URL(target, address));
      const files = sources.map(({ pathname }) => fileOf(folder, decodeURIComponent(pathname.slice(base.length))));
      const isShown = files.some(
        (loaded) => loaded && readFileSync(loaded).equals(readFileSync(path.join(root, image.file))),
      );
      if (!isShown) errors.push(`${page}: the image ${image.file} is not shown`);
    }
  }
  return { count: pages.reduce((count, { images }) => count + images.length, 0), errors };
}
