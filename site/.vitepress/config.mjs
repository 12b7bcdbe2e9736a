// @ts-check
import { defineConfig } from "vitepress";
import { anchorOf } from "../scripts/markdown.mjs";
import { accessibleTheme } from "./accessible-theme.mjs";
import { markdownPlugins } from "./markdown-plugins.mjs";
import { readSite } from "./site.mjs";

const { address, navigation, sidebar, summaries } = readSite();

export default defineConfig({
  title: "mcparley",
  titleTemplate: ":title · mcparley",
  description:
    "The Model Context Protocol in TypeScript: servers, clients and hosts, for every revision and transport.",
  lang: "en",
  base: process.env.SITE_BASE ?? "/",
  srcDir: ".generated/pages",
  outDir: "dist",
  cacheDir: ".generated/cache",
  cleanUrls: true,
  // The link check of `npm run check -- site` covers the built pages with their anchors.
  ignoreDeadLinks: false,
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: `${process.env.SITE_BASE ?? "/"}favicon.svg` }],
    ["meta", { name: "color-scheme", content: "light dark" }],
  ],
  markdown: {
    anchor: { slugify: anchorOf },
    config: markdownPlugins,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  vite: {
    plugins: [accessibleTheme()],
    // Parts of Mermaid, which only pages with diagrams load.
    // Images are files, which the check of the site compares with their sources.
    build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 },
  },
  themeConfig: {
    logo: "/favicon.svg",
    nav: navigation,
    sidebar,
    outline: { level: [2, 3], label: "On this page" },
    search: { provider: "local", options: { _render: renderForSearch } },
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
 * Renders a page for the search index. Generated tables and lists of next pages are left out, because they match every search.
 *
 * @param {string} source
 * @param {import("vitepress").MarkdownEnv} env
 * @param {any} md the renderer, whose types differ between two packages
 */
function renderForSearch(source, env, md) {
  const isGenerated = /^internals\/client-(states|under-faults)\.md$/.test(env.relativePath);
  const wanted = source
    .split(/^(?=## )/m)
    .filter((part, index) => (isGenerated ? index === 0 : !part.startsWith("## Next pages")));
  return md.render(wanted.join(""), env);
}
