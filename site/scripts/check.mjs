// @ts-check
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { startBrowser } from "./browser.mjs";
import { checkReadme } from "./readme.mjs";
import { screens, views } from "./views.mjs";

/** The widths, in pixels, at which no page can be wider than the screen. */
const widths = [1440, 1024, 820, 768, 390, 360];

/** @typedef {{ where: string; impact: string; rule: string; help: string; nodes: string[] }} Violation */

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Opens the views of the site in a browser, and checks each with axe. Writes a screenshot of each. Then opens every page at all widths, and
 * the README as the forge shows it.
 *
 * @param {string} url the address of the home page
 * @param {{ folder: string; screenshots: string }} options the built site, and the folder of the screenshots
 */
export async function checkInBrowser(url, { folder, screenshots }) {
  const browser = await startBrowser();
  if (!browser) return undefined;
  rmSync(screenshots, { recursive: true, force: true });
  mkdirSync(screenshots, { recursive: true });
  /** @type {string[]} */
  const errors = [];
  /** @type {Violation[]} */
  const violations = [];
  try {
    for (const { width, scheme } of screens) {
      const context = await browser.newContext({
        viewport: { width, height: width > 600 ? 900 : 844 },
        colorScheme: scheme,
        reducedMotion: "reduce",
      });
      for (const view of views) {
        const where = `${view.name}, ${width} px, ${scheme}`;
        const page = await context.newPage();
        errors.push(...(await openView(page, view, url)).map((error) => `${where}: ${error}`));
        await page.screenshot({ path: path.join(screenshots, `${view.name}-${width}-${scheme}.png`) });
        violations.push(...(await violationsOf(page)).map((violation) => ({ where, ...violation })));
        await page.close();
      }
      await context.close();
    }
    const pages = pagesIn(folder);
    const layout = await checkWidths(browser, { url, pages });
    const readme = await checkReadme(browser, { screenshots });
    return { errors, violations, views: screens.length * views.length, layout, pages: pages.length, readme };
  } finally {
    await browser.close();
  }
}

/** The addresses of the pages of a built site, without those that lead to others. @param {string} folder */
function pagesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".html") && readFileSync(path.join(folder, file), "utf8").includes('id="app"'))
    .map((file) =>
      file
        .split(path.sep)
        .join("/")
        .replace(/(^|\/)index\.html$/, "$1")
        .replace(/\.html$/, ""),
    )
    .toSorted();
}

/**
 * Returns the pages whose content is wider than the screen at one of the widths. On the width of a phone, no table scrolls either.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {{ url: string; pages: readonly string[] }} options
 */
async function checkWidths(browser, { url, pages }) {
  const page = await browser.newPage({ reducedMotion: "reduce" });
  /** @type {string[]} */
  const errors = [];
  for (const address of pages) {
    await page.setViewportSize({ width: widths[0] ?? 0, height: 900 });
    await page.goto(new URL(address, url).href);
    await page.evaluate(() => document.fonts.ready);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const { overflow, wide, tables } = await page.evaluate(() => {
        const root = document.documentElement;
        const scrolling = [...document.querySelectorAll(".vp-doc .table")].filter(
          (table) => table.scrollWidth > table.clientWidth,
        );
        const right = (/** @type {Element} */ element) => element.getBoundingClientRect().right;
        const overflow = root.scrollWidth - root.clientWidth;
        const widest = [...document.querySelectorAll("body *")].filter((element) => right(element) > root.clientWidth);
        return { overflow, wide: overflow > 0 ? widest.at(-1)?.outerHTML.slice(0, 120) : "", tables: scrolling.length };
      });
      if (overflow > 0) errors.push(`/${address}, ${width} px: the content is ${overflow} px wider: ${wide}`);
      if (width < 768 && tables > 0) errors.push(`/${address}, ${width} px: ${tables} tables scroll`);
    }
  }
  await page.close();
  return errors;
}

/**
 * Opens a view. Returns errors of the page: exceptions, failed requests, requests to other hosts, diagrams that were not
 * drawn, and content that is wider than the screen.
 *
 * @param {import("playwright-core").Page} page @param {import("./views.mjs").View} view @param {string} url
 */
async function openView(page, view, url) {
  /** @type {string[]} */
  const errors = [];
  page.on("pageerror", (error) => errors.push(`exception: ${error.message}`));
  page.on("requestfailed", (request) => errors.push(`failed request: ${request.url()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      errors.push(`request to ${request.url()}`);
  });
  const response = await page.goto(new URL(view.path, url).href);
  if (response?.status() !== (view.status ?? 200)) errors.push(`status ${response?.status()}`);
  await page.waitForLoadState("networkidle");
  await view.prepare?.(page);
  await page.evaluate(() => document.fonts.ready);
  const { diagrams, drawn, broken, overflow } = await page.evaluate(() => ({
    diagrams: document.querySelectorAll(".diagram").length,
    drawn: document.querySelectorAll(".diagram svg[aria-roledescription]:not([aria-roledescription=error])").length,
    broken: [...document.images].filter((image) => image.complete && image.naturalWidth === 0).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  if (drawn < diagrams) errors.push(`${diagrams - drawn} of ${diagrams} diagrams are not drawn`);
  if (broken > 0) errors.push(`${broken} images are not shown`);
  if (overflow > 0) errors.push(`the content is ${overflow} px wider than the screen`);
  return errors;
}

/** @param {import("playwright-core").Page} page @returns {Promise<Omit<Violation, "where">[]>} */
async function violationsOf(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"] });
    return violations;
  });
  return found.map((/** @type {import("axe-core").Result} */ { impact, id, help, nodes }) => ({
    impact: impact ?? "unknown",
    rule: id,
    help,
    nodes: nodes.map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
  }));
}
