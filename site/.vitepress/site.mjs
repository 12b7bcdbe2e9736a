// @ts-check
import { apiPages } from "../scripts/api-pages.mjs";
import { filesOf } from "../scripts/navigation.mjs";
import { repository } from "../../scripts/release/project.mjs";
import { addressOf, navigation, readPages, sitePath } from "../scripts/pages.mjs";
import { movedSections, readRedirects } from "../scripts/redirects.mjs";

/** The sections that the bar at the top links, each with the folders whose pages belong to it there. */
const topSections = /** @type {Readonly<Record<string, string>>} */ ({
  Start: "start|learn|create-mcparley",
  Servers: "servers|serve|auth",
  Clients: "clients|hosts|host-package|config",
  Command: "cli",
  Operate: "operate|redis",
  Reference: "reference",
});

/** Returns what the configuration of VitePress takes from the guides: the navigation, the sidebar, the summaries and aliases of pages. */
export function readSite() {
  const sections = navigation();
  const pages = readPages();
  const titles = new Map(pages.map(({ source, title }) => [source, title]));
  const decisions = pages.filter(({ source }) => /^docs\/internals\/adr\/\d/.test(source)).map(({ source }) => source);

  /** @param {string} source */
  const item = (source) => ({ text: titles.get(source) ?? source, link: linkOf(sitePath(source)) });
  /** @param {readonly string[]} files */
  const items = (files) => files.filter((file) => file !== "README.md").map(item);

  /** @param {import("../scripts/navigation.mjs").Section} section @returns {import("vitepress").DefaultTheme.SidebarItem[]} */
  const sidebarItems = ({ title, groups }) => {
    const [direct = { files: [] }] = groups.filter((group) => group.title === undefined);
    const named = groups.flatMap(({ title: text, files }) =>
      text ? [{ text, collapsed: true, items: items(files) }] : [],
    );
    if (title === "Reference") named.unshift(apiGroup());
    if (title === "Internals") named.push({ text: "All decisions", collapsed: true, items: items(decisions) });
    return [...items(direct.files), ...named];
  };

  return {
    address: repository,
    navigation: [
      ...sections.flatMap((section) => {
        const folders = topSections[section.title];
        const [first = ""] = filesOf(section);
        const link = linkOf(sitePath(first));
        return folders === undefined ? [] : [{ text: section.title, link, activeMatch: `^/(${folders})(/|\\.html)?` }];
      }),
      { text: "API", link: "/api/" },
    ],
    sidebar: [
      { text: "All guides", link: linkOf(sitePath("docs/README.md")) },
      ...sections.map((section) => ({ text: section.title, collapsed: true, items: sidebarItems(section) })),
    ],
    summaries: new Map(pages.map(({ path, summary }) => [path, summary])),
    aliases: new Map(pages.map((page) => [addressOf(page.path), page.aliases.join("; ")])),
    moved: movedFrom(pages.map(({ path }) => addressOf(path))),
  };
}

function apiGroup() {
  const items = apiPages.map(({ name, path }) => ({ text: name, link: linkOf(path) }));
  return { text: "API", collapsed: true, items: [{ text: "Entry points", link: "/api/" }, ...items] };
}

/** The sections that have moved away from pages that exist, by page and anchor. @param {readonly string[]} addresses */
function movedFrom(addresses) {
  const redirects = readRedirects();
  const moved = addresses.map((address) => /** @type {const} */ ([address, movedSections(address, redirects)]));
  return Object.fromEntries(moved.filter(([, sections]) => Object.keys(sections).length > 0));
}

/** The link of a page in the configuration: `/tools` of `tools.md`, `/adr/` of `adr/index.md`. @param {string} path */
function linkOf(path) {
  return `/${addressOf(path)}`;
}
