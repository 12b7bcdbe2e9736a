// @ts-check
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { isGuide, withoutPadding } from "../../scripts/guides.mjs";
import { publishedPackages, readManifest } from "../../scripts/packages.mjs";
import { firstSentence, mapProse, summaryOf, titleOf } from "./markdown.mjs";
import { filesOf } from "./navigation.mjs";
import { addressOf, isOptional, navigation, root } from "./pages.mjs";
import { newestOf, readRedirects } from "./redirects.mjs";

/** @typedef {import("./pages.mjs").Page} Page */

/** The most bytes of `llms-small.txt`. */
const smallSize = 40_000;

/** The pages of `llms-small.txt`, the most important first. One that does not fit is left out. */
const core = [
  "start/first-server",
  "servers/tools",
  "servers/elicitation-and-sampling",
  "servers/handler-context",
  "servers/testing",
  "serve/http",
  "servers/resources",
  "servers/prompts",
  "start/first-client",
  "clients/calls-and-errors",
  "auth/api-keys",
  "start/add-to-a-host",
];

/**
 * The index of the site for language models: the API by example, then each page with its address as Markdown and its first paragraph.
 *
 * @param {readonly Page[]} pages
 * @param {{ prefix: string; api: readonly { path: string; text: string }[] }} options `prefix` stands before each path
 */
export function llmsText(pages, { prefix, api }) {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const listed = navigation().map(({ title, ...section }) => ({
    title,
    pages: filesOf({ title, ...section }).flatMap((file) => bySource.get(file) ?? []),
  }));
  const line = (/** @type {Page} */ { title, path: file, summary }) =>
    `- [${title}](${prefix}${file}): ${firstSentence(summary)}`;
  const sections = listed.map(({ title, pages: all }) => ({
    title,
    pages: all.filter((page) => !isOptional(page.path)),
  }));
  const optional = listed.flatMap(({ pages: all }) => all.filter((page) => isOptional(page.path)));
  const reference = api.map(
    ({ path: file, text }) => `- [${titleOf(text)}](${prefix}${file}): ${firstSentence(summaryOf(text))}`,
  );
  return [
    readHead(),
    "Packages, of which each has its guides in `docs` and an index in `llms.txt`:",
    "",
    ...publishedPackages()
      .toSorted((one, other) => Number(other.name === "mcparley") - Number(one.name === "mcparley"))
      .map(({ name, folder }) => `- ${installLine(name)}: ${readManifest(folder).description}`),
    "",
    `Skills for coding agents: ${skillsOf()
      .map(({ name }) => `[${name}](${prefix}skills/${name}/SKILL.md)`)
      .join(", ")}. [Index of skills](${prefix}skills/index.json).`,
    "",
    `The links below are Markdown. Without \`.md\` they are pages for people. The most important guides in one file of less than 40 KB:`,
    `[llms-small.txt](${prefix}llms-small.txt). All guides: [llms-full.txt](${prefix}llms-full.txt).`,
    "",
    ...sections
      .filter((section) => section.pages.length > 0)
      .flatMap((section) => [`## ${section.title}`, "", ...section.pages.map(line), ""]),
    ...["## API", "", ...reference, ""],
    ...["## Optional", "", ...optional.map(line), ""],
  ].join("\n");
}

/** The API by example, which the tests of the samples run. */
function readHead() {
  return readFileSync(path.join(root, "site/llms.md"), "utf8");
}

/** The command that installs a package, in a code span. @param {string} name */
function installLine(name) {
  if (name.startsWith("create-")) return `\`npm create ${name.replace("create-", "")}@latest\``;
  if (name === "mcparley") return "`npm install mcparley zod`";
  return `\`npm install ${name === "@mcparley/cli" ? "--save-dev " : ""}${name}\``;
}

/**
 * All guides in one text, in the order of the navigation. Pages for contributors are left out.
 *
 * @param {readonly Page[]} pages
 */
export function llmsFullText(pages) {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const guides = navigation()
    .flatMap(filesOf)
    .filter((file) => !/^(CONTRIBUTING|ARCHITECTURE)\.md$|^docs\/internals\/adr\//.test(file))
    .filter((file) => isGuide(file.replace("docs/", "")))
    .flatMap((file) => bySource.get(file) ?? []);
  return guides.map(({ path: file, text }) => `<!-- ${file} -->\n\n${withoutPadding(text).trim()}\n`).join("\n");
}

/**
 * The API by example and the most important guides in one text of at most 40 KB, without tables and lists of next pages.
 *
 * @param {readonly Page[]} pages
 */
export function llmsSmallText(pages) {
  const redirects = readRedirects();
  let text = readHead();
  for (const address of new Set(core.map((page) => newestOf(page, redirects).split("#")[0]))) {
    const page = pages.find((one) => addressOf(one.path) === address);
    if (page === undefined) throw new Error(`There is no page ${address} for llms-small.txt.`);
    const added = `\n<!-- ${page.path} -->\n\n${narrativeOf(page.text)}\n`;
    if (Buffer.byteLength(text + added) <= smallSize) text += added;
  }
  return text;
}

/** A page without tables and without its list of next pages. @param {string} text */
function narrativeOf(text) {
  const [body = ""] = text.split(/^## Next(?: pages)?$/m);
  return mapProse(body, (prose) => prose.replaceAll(/^\|.*\|\n/gm, ""))
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/**
 * The skills of the packages, which the site serves as `skills/NAME/SKILL.md`.
 *
 * @returns {{ name: string; description: string; text: string }[]}
 */
export function skillsOf() {
  return publishedPackages().flatMap(({ folder }) => {
    const skills = path.join(root, folder, "skills");
    const names = existsSync(skills) ? readdirSync(skills) : [];
    return names.map((name) => {
      const text = readFileSync(path.join(skills, name, "SKILL.md"), "utf8");
      const [, description = ""] = /^description: (.*)$/m.exec(text) ?? [];
      return { name, description, text };
    });
  });
}

/**
 * The index of the skills in the form of the convention "Agent Skills Discovery" 0.2.0, which clients read at `/.well-known/agent-skills/index.json`.
 *
 * @param {string} prefix stands before each path
 */
export function skillsIndex(prefix) {
  const skills = skillsOf().map(({ name, description, text }) => ({
    name,
    type: "skill-md",
    description,
    url: `${prefix}skills/${name}/SKILL.md`,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
  }));
  const index = { $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json", skills };
  return `${JSON.stringify(index, undefined, 2)}\n`;
}
