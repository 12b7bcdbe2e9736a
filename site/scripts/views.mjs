// @ts-check

/**
 * A state of the site that is checked and photographed.
 *
 * @typedef {object} View
 * @property {string} name
 * @property {string} path
 * @property {number} [status] the expected status of the page; default 200
 * @property {(page: import("playwright-core").Page) => Promise<void>} [prepare] brings the page into the state
 */

/** @type {readonly View[]} */
export const views = [
  { name: "home", path: "" },
  { name: "quick-start", path: "start/first-server" },
  { name: "guides", path: "guides" },
  { name: "tables", path: "reference/server-options", prepare: scrollToTable },
  { name: "diagrams", path: "internals/how-a-call-works", prepare: scrollToDiagram },
  { name: "code", path: "servers/tools" },
  { name: "image", path: "cli/chat", prepare: scrollToImage },
  { name: "api", path: "api/server" },
  { name: "not-found", path: "no-such-page", status: 404 },
  { name: "search", path: "servers/tools", prepare: search },
  { name: "menu", path: "servers/tools", prepare: openMenu },
];

/** The widths in pixels, and the color schemes, in which each view is checked. */
export const screens = [1440, 820, 390].flatMap((width) => [
  { width, scheme: /** @type {const} */ ("light") },
  { width, scheme: /** @type {const} */ ("dark") },
]);

/** Scrolls to the first table. @param {import("playwright-core").Page} page */
async function scrollToTable(page) {
  await page.locator(".vp-doc .table").first().scrollIntoViewIfNeeded();
}

/** Scrolls to the first diagram, once it is drawn. @param {import("playwright-core").Page} page */
async function scrollToDiagram(page) {
  await page.locator(".diagram svg").first().waitFor();
  await page.evaluate(() => document.querySelector(".diagram")?.scrollIntoView());
}

/** Scrolls to the first image. @param {import("playwright-core").Page} page */
async function scrollToImage(page) {
  await page.locator(".vp-doc img").first().scrollIntoViewIfNeeded();
}

/** Opens the search, and waits for results. @param {import("playwright-core").Page} page */
async function search(page) {
  await page.locator(".VPNavBarSearch button").first().click();
  await page.locator(".VPLocalSearchBox .search-input").fill("elicitation");
  await page.locator(".VPLocalSearchBox .result", { hasText: "Elicitation and sampling" }).first().waitFor();
}

/** Opens the sidebar on a narrow screen, which hides it. On a wide screen opens a group of it. @param {import("playwright-core").Page} page */
async function openMenu(page) {
  const menu = page.locator(".VPLocalNav .menu");
  if (await menu.isVisible()) await menu.click();
  await page.locator(".VPSidebar").waitFor();
  await page.locator(".VPSidebarItem.level-0.collapsed > .item").last().click();
}
