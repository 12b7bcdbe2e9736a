// @ts-check

/** @typedef {import("vitepress").MarkdownRenderer} MarkdownRenderer */

/**
 * Renders the guides as the forge does: HTML in them is text, braces are no templates, and `mermaid` blocks are diagrams.
 *
 * @param {MarkdownRenderer} md
 */
export function markdownPlugins(md) {
  escapeHtml(md);
  escapeTemplates(md);
  renderDiagrams(md);
  labelTables(md);
  divideHome(md);
}

/** Shows HTML as text, except line breaks and comments. @param {MarkdownRenderer} md */
function escapeHtml(md) {
  /** @param {string} html */
  const safe = (html) => {
    if (/^<br\s*\/?>$/.test(html.trim())) return "<br>";
    return /^\s*<!--[\s\S]*-->\s*$/.test(html) ? "" : md.utils.escapeHtml(html);
  };
  md.renderer.rules.html_inline = (tokens, index) => safe(tokens[index]?.content ?? "");
  md.renderer.rules.html_block = (tokens, index) => safe(tokens[index]?.content ?? "");
}

/** Keeps Vue from reading `{{` in prose as a template. @param {MarkdownRenderer} md */
function escapeTemplates(md) {
  const text = md.renderer.rules.text ?? ((tokens, index) => md.utils.escapeHtml(tokens[index]?.content ?? ""));
  md.renderer.rules.text = (...args) => text(...args).replaceAll("{{", "&#123;&#123;");
}

/** Renders `mermaid` blocks with the component of the theme. @param {MarkdownRenderer} md */
function renderDiagrams(md) {
  const fence = md.renderer.rules.fence;
  if (!fence) throw new Error("The Markdown renderer has no rule for fenced blocks.");
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info = "", content = "" } = tokens[index] ?? {};
    if (info.trim() !== "mermaid") return fence(tokens, index, ...rest);
    return `<Diagram code="${encodeURIComponent(content)}" />\n`;
  };
}

/**
 * Wraps tables, so that a wide one scrolls inside the page and can be scrolled with the keyboard. On a narrow screen each row is a list: the
 * cells have the label of their column, and keep their roles.
 *
 * @param {MarkdownRenderer} md
 */
function labelTables(md) {
  md.renderer.rules.table_open = () =>
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table role="table">\n';
  md.renderer.rules.table_close = () => "</table></div>\n";
  // One element is one item of the grid that shows the label.
  md.renderer.rules.td_open = (tokens, index, options, _, self) => `${self.renderToken(tokens, index, options)}<div>`;
  md.renderer.rules.td_close = () => "</div></td>\n";
  md.core.ruler.push("label_cells", ({ tokens }) => {
    /** @type {string[]} */
    let labels = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === "table_open") labels = [];
      if (token.type === "tr_open") column = 0;
      const role = roles[token.type];
      if (role !== undefined) token.attrSet("role", role);
      if (token.type === "th_open") labels.push(textOf(tokens[index + 1]));
      if (token.type === "td_open") token.attrSet("data-label", labels[column++] ?? "");
    }
  });
}

/** The roles of the parts of a table, which their display as blocks removes. */
const roles = /** @type {Readonly<Record<string, string>>} */ ({
  thead_open: "rowgroup",
  tbody_open: "rowgroup",
  tr_open: "row",
  th_open: "columnheader",
  td_open: "cell",
});

/** The text of a cell without marks. @param {{ children: { content: string }[] | null } | undefined} token */
function textOf(token) {
  return (token?.children ?? []).map(({ content }) => content).join("");
}

/**
 * Divides the home page into sections, each with its text and with the code, picture or table that follows. The text before the first
 * heading is the first section.
 *
 * @param {MarkdownRenderer} md
 */
function divideHome(md) {
  md.core.ruler.push("divide_home", (state) => {
    if (state.env.relativePath !== "index.md") return;
    /** @param {string} content */
    const html = (content) => Object.assign(new state.Token("home", "", 0), { content });
    let isShown = true;
    const tokens = [html('<section class="part"><div class="shown">')];
    for (const token of state.tokens) {
      const isShow = token.level === 0 && (/^(fence|table_open)$/.test(token.type) || isPicture(state.tokens, token));
      if (token.type === "heading_open") {
        tokens.push(html('</div></section><section class="part"><div class="text">'));
        isShown = false;
      } else if (isShow && !isShown) {
        tokens.push(html('</div><div class="shown">'));
        isShown = true;
      }
      tokens.push(token);
    }
    state.tokens = [...tokens, html("</div></section>")];
  });
  md.renderer.rules.home = (tokens, index) => `${tokens[index]?.content ?? ""}\n`;
}

/** Whether a paragraph is a picture. @param {import("markdown-it/lib/token.mjs").default[]} tokens @param {any} token */
function isPicture(tokens, token) {
  const [first] = tokens[tokens.indexOf(token) + 1]?.children ?? [];
  return token.type === "paragraph_open" && first?.type === "image";
}
