// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { Application, LogLevel } from "typedoc";
import { apiPages } from "./api-pages.mjs";
import { renderEntryPoint } from "./api-render.mjs";
import { root } from "./pages.mjs";

/** @typedef {import("./api-render.mjs").Module} Module */

/**
 * Makes the pages of the API reference from the docstrings of the entry points: one page for each, and an index.
 *
 * @returns {Promise<{ path: string; text: string }[]>}
 */
export async function makeApiReference() {
  const modules = await readModules();
  /** The page that documents each name: the first entry point that exports its declaration. @type {Map<string, string>} */
  const homes = new Map();
  for (const [index, module] of modules.entries()) {
    for (const child of module.children ?? []) {
      if (child.variant !== "reference" && !homes.has(child.name)) homes.set(child.name, apiPages[index]?.path ?? "");
    }
  }
  const pages = apiPages.map((page, index) => {
    const module = modules[index];
    if (!module) throw new Error(`TypeDoc found no module for ${page.name}.`);
    const described = { ...page, summary: summaryOf(page.source) };
    return { ...described, text: renderEntryPoint(described, { module, homes }) };
  });
  return [{ path: "api/index.md", text: indexText(pages) }, ...pages];
}

/** The modules of TypeDoc's model, in the order of the pages. @returns {Promise<Module[]>} */
async function readModules() {
  const packages = [...new Set(apiPages.map((page) => page.package))];
  const modules = [];
  for (const name of packages) {
    modules.push(...(await readPackage(name)));
  }
  return modules;
}

/** @param {string} name a folder of `packages` @returns {Promise<Module[]>} */
async function readPackage(name) {
  const sources = apiPages.filter((page) => page.package === name).map(({ source }) => source);
  const app = await Application.bootstrap({
    entryPoints: sources.map((source) => path.join(root, source)),
    tsconfig: path.join(root, "packages", name, "tsconfig.json"),
    // The build checks the types with another version of TypeScript.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    disableGit: true,
    // The order of the source, in which authors put the important members first.
    sort: ["source-order"],
    logLevel: LogLevel.Error,
  });
  const project = await app.convert();
  if (!project) throw new Error(`TypeDoc cannot read the entry points of packages/${name}.`);
  if (sources.length === 1) return [project];
  return sources.map((source) => {
    const module = project.children?.find((child) => child.name === path.basename(source, ".ts"));
    if (!module) throw new Error(`TypeDoc found no module for ${source}.`);
    return module;
  });
}

/** @param {readonly (import("./api-pages.mjs").ApiPage & { summary: string })[]} pages */
function indexText(pages) {
  const rows = pages.map(
    ({ name, path: file, summary }) => `| [\`${name}\`](${path.posix.basename(file)}) | ${summary} |`,
  );
  return [
    "# API reference",
    "",
    "The exports of each entry point, with their types and docstrings. The guides describe how to use them.",
    "",
    "| Entry point | Content |",
    "| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

/** The first docstring of an entry point, which describes it. @param {string} source */
function summaryOf(source) {
  const text = readFileSync(path.join(root, source), "utf8");
  const [, comment = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(text) ?? [];
  return comment.replaceAll(/\n \* ?/g, " ").trim();
}
