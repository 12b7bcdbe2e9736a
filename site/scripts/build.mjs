// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeApiReference } from "./api.mjs";
import { withoutPadding } from "../../scripts/guides.mjs";
import { llmsFullText, llmsSmallText, llmsText, skillsIndex, skillsOf } from "./llms.mjs";
import { imagesOf } from "./images.mjs";
import { readPages, root, sitePath } from "./pages.mjs";
import { writeRedirects } from "./redirects.mjs";

/** The folder of the site. */
const home = path.join(root, "site");
/** The Markdown that VitePress reads. */
const staged = path.join(home, ".generated/pages");
/** The built site. */
export const built = path.join(home, "dist");

/**
 * Builds the site into `dist`.
 *
 * @param {{ url: string | undefined }} options the address at which the site will be served; its path is the base of all links
 */
export async function buildSite({ url }) {
  const pages = readPages();
  const api = await makeApiReference();
  rmSync(staged, { recursive: true, force: true });
  rmSync(built, { recursive: true, force: true });
  for (const { path: file, text } of [...pages, ...api]) write(path.join(staged, file), text);
  const images = new Set(pages.flatMap((page) => imagesOf(page)).map(({ file }) => file));
  for (const file of images) cpSync(path.join(root, file), path.join(staged, sitePath(file)));
  // The README is the Markdown of the home page; the HTML has a page for readers who see the project for the first time.
  cpSync(path.join(home, "home.md"), path.join(staged, "index.md"));
  cpSync(path.join(home, "public"), path.join(staged, "public"), { recursive: true });

  const base = baseOf(url);
  const vitepress = path.join(home, "node_modules/vitepress/bin/vitepress.js");
  const env = { ...process.env, SITE_BASE: base };
  const { status } = spawnSync(process.execPath, [vitepress, "build"], {
    cwd: home,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error(`VitePress ended with status ${status}.`);

  const prefix = url === undefined ? base : `${url.replace(/\/$/, "")}/`;
  for (const { path: file, text } of [...pages, ...api]) write(path.join(built, file), withoutPadding(text));
  // The Markdown names the images by their paths, and the HTML by their hashes.
  for (const file of images) cpSync(path.join(root, file), path.join(built, sitePath(file)));
  for (const { name, text } of skillsOf()) write(path.join(built, "skills", name, "SKILL.md"), text);
  for (const folder of ["skills", ".well-known/agent-skills"])
    write(path.join(built, folder, "index.json"), skillsIndex(prefix));
  writeRedirects(built, { base });
  write(path.join(built, "llms.txt"), llmsText(pages, { prefix, api }));
  write(path.join(built, "llms-small.txt"), llmsSmallText(pages));
  write(path.join(built, "llms-full.txt"), llmsFullText(pages));
}

/** The path at which the site is served, with a slash at both ends. @param {string | undefined} url */
export function baseOf(url) {
  return url === undefined ? "/" : `${new URL(url).pathname.replace(/\/$/, "")}/`;
}

/** @param {string} file @param {string} text */
function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
