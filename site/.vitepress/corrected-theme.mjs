// @ts-check
import { fileURLToPath } from "node:url";

const ranking = JSON.stringify(fileURLToPath(new URL("ranking.mjs", import.meta.url)));

/**
 * Corrections of the default theme's components that axe, the keyboard or the search needs. Each replaces an exact text, and the build
 * fails if a version of VitePress has another text.
 *
 * @type {Readonly<Record<string, readonly (readonly [from: string, to: string])[]>>}
 */
const corrections = {
  // A group without a link is one button, so its caret must not be another one inside it.
  "VPSidebarItem.vue": [
    [':role="itemRole"', ':role="itemRole" :aria-expanded="itemRole && hasChildren ? !collapsed : undefined"'],
    ['role="button"', ":role=\"item.link ? 'button' : undefined\""],
    ['aria-label="toggle section"', ':aria-label="item.link ? `Toggle ${item.text}` : undefined"'],
    ['tabindex="0"', ':tabindex="item.link ? 0 : undefined"'],
    ["'key' in e && e.key !== 'Enter'", "'key' in e && e.key !== 'Enter' && e.key !== ' '"],
    ["!props.item.link && toggle()", "if ('key' in e) e.preventDefault()\n  !props.item.link && toggle()"],
  ],
  // The label must be the visible text. The theme's styles add the letter of the shortcut.
  "VPNavBarSearchButton.vue": [
    ['<kbd class="DocSearch-Button-Key">K</kbd>', '<kbd class="DocSearch-Button-Key letter"></kbd>'],
  ],
  // The search is a dialog that contains a list of links, and not a button that contains a list of options.
  "VPLocalSearchBox.vue": [
    ["import MiniSearch,", `import { search as searchGuides } from ${ranking}\nimport MiniSearch,`],
    ["index\n      .search(filterTextValue)", "searchGuides(index, filterTextValue)"],
    ['role="button"', 'role="dialog" aria-modal="true" aria-label="Search"'],
    [":aria-owns=\"results?.length ? 'localsearch-list' : undefined\"", ""],
    ['aria-expanded="true"', ""],
    ['aria-haspopup="listbox"', ""],
    ['aria-labelledby="localsearch-label"', ""],
    [":aria-activedescendant=\"selectedIndex > -1 ? ('localsearch-item-' + selectedIndex) : undefined\"", ""],
    ['aria-autocomplete="both"', ""],
    ['aria-labelledby="localsearch-label"', 'aria-label="Search"'],
    [":role=\"results?.length ? 'listbox' : undefined\"", ""],
    [":aria-labelledby=\"results?.length ? 'localsearch-label' : undefined\"", 'aria-label="Results"'],
    [":aria-selected=\"selectedIndex === index ? 'true' : 'false'\"", ""],
    ['role="option"', ""],
    [":aria-label=\"[...p.titles, p.title].join(' > ')\"", ""],
    ["<kbd :aria-label=\"translate('modal.footer.navigateUpKeyAriaLabel')\"", '<kbd role="img" aria-label="up arrow"'],
    [
      "<kbd :aria-label=\"translate('modal.footer.navigateDownKeyAriaLabel')\"",
      '<kbd role="img" aria-label="down arrow"',
    ],
    ["<kbd :aria-label=\"translate('modal.footer.selectKeyAriaLabel')\"", '<kbd role="img" aria-label="enter"'],
    ["<kbd :aria-label=\"translate('modal.footer.closeKeyAriaLabel')\"", "<kbd"],
  ],
  // The page has one footer.
  "VPDocFooter.vue": [
    ['<footer v-if="showFooter" class="VPDocFooter">', '<div v-if="showFooter" class="VPDocFooter">'],
    ["</footer>", "</div>"],
  ],
};

/** @returns {import("vite").Plugin} */
export function correctedTheme() {
  return {
    name: "corrected-theme",
    enforce: "pre",
    transform(code, id) {
      const [, name = ""] = /\/theme-default\/components\/(\w+\.vue)$/.exec(id.replaceAll("\\", "/")) ?? [];
      return corrections[name]?.reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`${name} does not contain ${from}.`);
        return text.replace(from, to);
      }, code);
    },
  };
}
