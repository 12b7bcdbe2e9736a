// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { marked } from "marked";
import { root } from "./pages.mjs";

const { resolve } = createRequire(import.meta.url);

/** The width of a README on the page of a repository of the forge. */
const width = 830;

/**
 * Shows README.md as the forge does, and writes a screenshot of all of it. Returns what a reader would miss: images that are not shown, and
 * content that is wider than the page. Blocks of code and tables can scroll.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {{ screenshots: string }} options
 */
export async function checkReadme(browser, { screenshots }) {
  const file = path.join(root, "site/.generated/readme.html");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, htmlOf(readFileSync(path.join(root, "README.md"), "utf8")));
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: "light" });
  await page.goto(pathToFileURL(file).href);
  await page.screenshot({ path: path.join(screenshots, `readme-${width}.png`), fullPage: true });
  const { broken, overflow, wide } = await page.evaluate(() => ({
    broken: [...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    wide: [...document.querySelectorAll("pre, table")].filter((element) => element.scrollWidth > element.clientWidth)
      .length,
  }));
  await page.close();
  const errors = broken.map((source) => `README.md: the image ${source} is not shown`);
  if (overflow > 0) errors.push(`README.md: the content is ${overflow} px wider than ${width} px`);
  return { errors, wide };
}

/** @param {string} text */
function htmlOf(text) {
  const css = readFileSync(resolve("github-markdown-css/github-markdown-light.css"), "utf8");
  const body = withCallOuts(String(marked.parse(text, { gfm: true, async: false })));
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <base href="${pathToFileURL(root).href}">
  <title>README.md</title>
  <style>${css} body { margin: 0; padding: 32px; box-sizing: border-box; }</style>
  <body class="markdown-body">${body}</body>
</html>
`;
}

/** Call-outs of the forge, which are quotes to the parser. @param {string} html */
function withCallOuts(html) {
  return html.replaceAll(
    /<blockquote>\s*<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]([\s\S]*?)<\/blockquote>/g,
    (_, kind, content) => {
      const name = kind.toLowerCase();
      const title = `${kind[0]}${name.slice(1)}`;
      return `<div class="markdown-alert markdown-alert-${name}"><p class="markdown-alert-title">${title}</p><p>${content}</div>`;
    },
  );
}
