// @ts-check
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { startBrowser } from "./browser.mjs";
import { screens, views } from "./views.mjs";

/** @typedef {{ where: string; impact: string; rule: string; help: string; nodes: string[] }} Violation */

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Opens the views of the site in a browser, and checks each with axe. Writes a screenshot of each.
 *
 * @param {string} url the address of the home page
 * @param {{ screenshots: string }} options the folder of the screenshots
 * @returns {Promise<{ errors: string[]; violations: Violation[]; views: number } | undefined>} undefined if there is no browser
 */
export async function checkInBrowser(url, { screenshots }) {
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
  } finally {
    await browser.close();
  }
  return { errors, violations, views: screens.length * views.length };
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
