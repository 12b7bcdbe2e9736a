// @ts-check
import { apiPages } from "../scripts/api-pages.mjs";
import { filesOf } from "../scripts/navigation.mjs";
import { repository } from "../../scripts/release/project.mjs";
import { navigation, readPages, sitePath } from "../scripts/pages.mjs";

/** Returns what the configuration of VitePress takes from the guides: the navigation, the sidebar and the summaries of pages. */
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
    if (title === "Contributors") named.push({ text: "All decisions", collapsed: true, items: items(decisions) });
    return [...items(direct.files), ...named];
  };

  return {
    address: repository,
    navigation: sections.map((section) => {
      const inside = [...filesOf(section), ...(section.title === "Contributors" ? decisions : [])];
      const [first = ""] = inside.filter((file) => file !== "README.md");
      return { text: section.title, link: linkOf(sitePath(first)), activeMatch: matchOf(section.title, inside) };
    }),
    sidebar: [
      { text: "All guides", link: linkOf(sitePath("docs/README.md")) },
      ...sections.map((section) => ({ text: section.title, collapsed: true, items: sidebarItems(section) })),
    ],
    summaries: new Map(pages.map(({ path, summary }) => [path, summary])),
  };
}

function apiGroup() {
  const items = apiPages.map(({ name, path }) => ({ text: name, link: linkOf(path) }));
  return { text: "API", collapsed: true, items: [{ text: "Entry points", link: "/api/" }, ...items] };
}

/** The link of a page in the configuration: `/tools` of `tools.md`, `/adr/` of `adr/index.md`. @param {string} path */
function linkOf(path) {
  return `/${path.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "")}`;
}

/** A pattern for the paths of a section. @param {string} title @param {readonly string[]} files */
function matchOf(title, files) {
  const paths = files.filter((file) => file !== "README.md").map((file) => linkOf(sitePath(file)));
  if (title === "Reference") paths.push("/api/.*");
  return `^(${paths.join("|")})(\\.html)?$`;
}
