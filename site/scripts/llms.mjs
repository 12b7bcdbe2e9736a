// @ts-check
import { isGuide, withoutPadding } from "../../scripts/guides.mjs";
import { firstSentence, summaryOf, titleOf } from "./markdown.mjs";
import { filesOf } from "./navigation.mjs";
import { navigation } from "./pages.mjs";

/** @typedef {import("./pages.mjs").Page} Page */

/**
 * The index of the site for language models: each page with its address as Markdown and its first paragraph.
 *
 * @param {readonly Page[]} pages
 * @param {{ prefix: string; api: readonly { path: string; text: string }[] }} options `prefix` stands before each path
 */
export function llmsText(pages, { prefix, api }) {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const sections = navigation().map((section) => {
    const items = filesOf(section).flatMap((file) => {
      const page = bySource.get(file);
      return page ? [`- [${page.title}](${prefix}${page.path}): ${firstSentence(page.summary)}`] : [];
    });
    return [`## ${section.title}`, "", ...items].join("\n");
  });
  const reference = api.map(
    ({ path, text }) => `- [${titleOf(text)}](${prefix}${path}): ${firstSentence(summaryOf(text))}`,
  );
  return [
    "# mcparley",
    "",
    "> The Model Context Protocol (MCP) in TypeScript: a library for servers, clients and hosts, and a command.",
    "",
    "Install: `npm install mcparley zod`. The command `mcparley` is in `@mcparley/cli`: `npm install --save-dev @mcparley/cli`, then",
    "`npx mcparley list TARGET`. The guides are also in `node_modules/mcparley/docs`, with an index in",
    "`node_modules/mcparley/llms.txt`. A skill for coding agents is in `node_modules/mcparley/skills/build-mcp-server`.",
    "",
    `The links below are Markdown. Without \`.md\` they are pages for people. All guides in one file: [llms-full.txt](${prefix}llms-full.txt).`,
    "",
    ...sections.flatMap((section) => [section, ""]),
    ["## API", "", ...reference].join("\n"),
    "",
  ].join("\n");
}

/**
 * All guides in one text, in the order of the navigation. Pages for contributors are left out.
 *
 * @param {readonly Page[]} pages
 */
export function llmsFullText(pages) {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const guides = navigation()
    .filter(({ title }) => title !== "Contributors")
    .flatMap(filesOf)
    .filter((file) => isGuide(file.replace("docs/", "")))
    .flatMap((file) => bySource.get(file) ?? []);
  return guides.map(({ path, text }) => `<!-- ${path} -->\n\n${withoutPadding(text).trim()}\n`).join("\n");
}
