// @ts-check

/**
 * The sections of a rendered page for the search: one for each heading.
 *
 * @param {string} html
 * @returns {{ anchor: string; titles: string[]; text: string }[]}
 */
export function sectionsOf(html) {
  const [, ...parts] = html.split(/<h([1-6])[^>]*>([\s\S]*?)<\/h\1>/);
  /** @type {string[]} */
  let above = [];
  /** @type {{ anchor: string; titles: string[]; text: string }[]} */
  const sections = [];
  for (let part = 0; part < parts.length; part += 3) {
    const [level = "1", heading = "", content = ""] = parts.slice(part);
    const [, anchor = ""] = /href="#([^"]*)"/.exec(heading) ?? [];
    const title = textOf(heading.replace(/<a class="header-anchor"[\s\S]*?<\/a>/, "")).trim();
    above = [...above.slice(0, Number(level) - 1), title];
    // The first heading is the page itself.
    sections.push({ anchor: level === "1" ? "" : anchor, titles: above.filter(Boolean), text: textOf(content) });
  }
  return sections;
}

/** The text of HTML. @param {string} html */
function textOf(html) {
  return html
    .replaceAll(/<button[\s\S]*?<\/button>|<span class="lang">[\s\S]*?<\/span>/g, "")
    .replaceAll(/<\/(p|li|td|th|pre|h\d)>|<br>/g, " ")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#123;", "{")
    .replaceAll(/&#(?:39|x27);/g, "'")
    .replaceAll(/&ZeroWidthSpace;|\u200b/g, "")
    .replaceAll("&amp;", "&");
}
