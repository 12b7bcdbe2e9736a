// @ts-check
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { checkInBrowser } from "./check.mjs";
import { checkImages, imagesOf } from "./images.mjs";
import { checkLinks } from "./links.mjs";
import { readPages, root } from "./pages.mjs";
import { checkSearch } from "./search.mjs";
import { serveSite } from "./serve.mjs";

/**
 * Checks a built site, and prints the results. Returns the exit code.
 *
 * @param {{ folder: string; base: string; screenshots: string }} options
 */
export async function checkSite({ folder, base, screenshots }) {
  const results = [
    checkTypes(),
    reportLinks(folder, base),
    reportImages(folder, base),
    reportCallOuts(folder),
    await reportSearch(folder, base),
    await reportBrowser({ folder, base, screenshots }),
  ];
  return results.every(Boolean) ? 0 : 1;
}

/** The scripts of the site use packages that the other checks of the repository do not install. */
function checkTypes() {
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", path.join(root, "site")], { encoding: "utf8" });
  print(status === 0, "types of the scripts", stdout.split("\n").filter(Boolean));
  return status === 0;
}

/** @param {string} folder @param {string} base */
function reportLinks(folder, base) {
  const { pages, links, errors } = checkLinks(folder, { base });
  print(errors.length === 0, `${links} links of ${pages} pages`, errors);
  return errors.length === 0;
}

/** @param {string} folder @param {string} base */
function reportImages(folder, base) {
  // The HTML of the home page is not that of the README. Its images are named from the folder of the guides.
  const home = imagesOf({ source: "docs/home.md" }, readFileSync(path.join(root, "site/home.md"), "utf8"));
  const pages = readPages().map((page) => ({
    path: page.path,
    images: page.source === "README.md" ? home : imagesOf(page),
  }));
  const { count, errors } = checkImages(folder, { base, pages });
  print(errors.length === 0, `${count} images are those of the source`, errors);
  return errors.length === 0;
}

/** Compares the call-outs of the pages with those of the sources. @param {string} folder */
function reportCallOuts(folder) {
  let total = 0;
  const errors = readPages().flatMap(({ path: page, text }) => {
    const written = text.match(/^> \[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/gm)?.length ?? 0;
    const file = path.join(folder, page.replace(/\.md$/, ".html"));
    const shown = readFileSync(file, "utf8").match(/class="[^"]*\bgithub-alert\b/g)?.length ?? 0;
    total += shown;
    return page === "index.md" || shown === written ? [] : [`${page}: ${shown} of ${written} call-outs are shown`];
  });
  print(errors.length === 0, `${total} call-outs are shown`, errors);
  return errors.length === 0;
}

/** @param {string} folder @param {string} base */
async function reportSearch(folder, base) {
  const { queries, first, errors, sections } = await checkSearch(folder, { base });
  const title = `${queries} queries find their page in ${sections} sections among the first 3, ${first} as the first`;
  print(errors.length === 0, title, errors);
  return errors.length === 0;
}

/** @param {{ folder: string; base: string; screenshots: string }} options */
async function reportBrowser({ folder, base, screenshots }) {
  const server = await serveSite(folder, { base });
  const result = await checkInBrowser(server.url, { folder, screenshots });
  await server.close();
  if (!result) {
    process.stdout.write("not run  There is no Chromium, and it cannot be installed.\n");
    return true;
  }
  const bad = result.violations.filter(isBad);
  const others = result.violations.filter((violation) => !isBad(violation));
  print(result.errors.length === 0, `${result.views} views in Chromium`, result.errors);
  print(bad.length === 0, "no serious or critical violation of accessibility", bad.map(describe));
  print(true, `${others.length} other violations`, others.map(describe));
  print(result.layout.length === 0, `${result.pages} pages fit into six widths`, result.layout);
  const { errors, wide } = result.readme;
  print(errors.length === 0, `README.md at 830 px, with ${wide} blocks or tables that scroll`, errors);
  process.stdout.write(`         screenshots in ${path.relative(process.cwd(), screenshots)}\n`);
  return [result.errors, bad, result.layout, errors].every(({ length }) => length === 0);
}

/** @param {import("./check.mjs").Violation} violation */
function isBad({ impact }) {
  return impact === "serious" || impact === "critical";
}

/** @param {import("./check.mjs").Violation} violation */
function describe({ where, impact, rule, help, nodes }) {
  return [`${where}: ${impact}, ${rule}: ${help}`, ...nodes.slice(0, 5).map((node) => `    ${node}`)].join(
    "\n         ",
  );
}

/** @param {boolean} isGood @param {string} name @param {readonly string[]} lines */
function print(isGood, name, lines) {
  process.stdout.write(`${isGood ? "ok     " : "failed "}  ${name}\n`);
  for (const line of lines) process.stdout.write(`         ${line}\n`);
}
