// @ts-check
import { defineConfig } from "vitepress";
import { anchorOf } from "../scripts/markdown.mjs";
import { isOptional } from "../scripts/pages.mjs";
import { correctedTheme } from "./corrected-theme.mjs";
import { markdownPlugins } from "./markdown-plugins.mjs";
import { fields, processTerm, storeFields, tokenize } from "./ranking.mjs";
import { sectionsOf } from "./sections.mjs";
import { readSite } from "./site.mjs";

const { address, aliases, moved, navigation, sidebar, summaries } = readSite();
const base = process.env.SITE_BASE ?? "/";

/** The options of MiniSearch, of which the types of VitePress have only some. */
const indexOptions = { fields, storeFields, tokenize, processTerm, extractField };

export default defineConfig({
  title: "mcparley",
  titleTemplate: ":title · mcparley",
  description:
    "The Model Context Protocol in TypeScript: servers, clients and hosts, for every revision and transport.",
  lang: "en",
  base,
  srcDir: ".generated/pages",
  outDir: "dist",
  cacheDir: ".generated/cache",
  cleanUrls: true,
  // The link check of `npm run check -- site` covers the built pages with their anchors.
  ignoreDeadLinks: false,
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: `${base}favicon.svg` }],
    ["meta", { name: "color-scheme", content: "light dark" }],
  ],
  markdown: {
    anchor: { slugify: anchorOf },
    config: markdownPlugins,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  vite: {
    plugins: [correctedTheme()],
    // Parts of Mermaid, which only pages with diagrams load.
    // Images are files, which the check of the site compares with their sources.
    build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 },
  },
  themeConfig: {
    logo: "/favicon.svg",
    nav: navigation,
    sidebar,
    outline: { level: [2, 3], label: "On this page" },
    search: {
      provider: "local",
      options: {
        _render: renderForSearch,
        miniSearch: {
          options: indexOptions,
          _splitIntoSections: (_, html) => sectionsOf(html),
        },
      },
    },
    // The layout leads from sections that have moved to another page. The types of the theme do not know this member.
    ...{ moved },
    ...(address && { socialLinks: [{ icon: "github", link: address }] }),
    docFooter: { prev: "Previous page", next: "Next page" },
    notFound: {
      title: "Page not found",
      quote: "No page has this address. Search for its subject, or open the home page, which lists the guides by task.",
      linkLabel: "Go to the home page",
      linkText: "Home",
    },
  },
  transformPageData(page) {
    const summary = summaries.get(page.relativePath);
    return summary === undefined ? undefined : { description: summary };
  },
});

/**
 * Renders a page for the search index, without colors. Pages for contributors and lists of next pages are left out, because they match every
 * search.
 *
 * @param {string} source
 * @param {import("vitepress").MarkdownEnv} env
 * @param {any} md the renderer, whose types differ between two packages
 */
function renderForSearch(source, env, md) {
  if (isOptional(env.relativePath) || env.relativePath === "index.md") return "";
  const wanted = source.split(/^(?=## )/m).filter((part) => !/^## Next( pages)?\n/.test(part));
  const { highlight } = md.options;
  md.options.highlight = null;
  try {
    return md.render(wanted.join(""), env);
  } finally {
    md.options.highlight = highlight;
  }
}

/**
 * A field of a section in the search index. The aliases of a page belong to its first section, whose address has no anchor.
 *
 * @param {any} section @param {string} field
 */
function extractField(section, field) {
  return field === "aliases" ? (aliases.get(section.id.slice(base.length)) ?? "") : section[field];
}
