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

/** Wraps tables, so that a wide one scrolls inside the page and can be scrolled with the keyboard. @param {MarkdownRenderer} md */
function labelTables(md) {
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
  md.renderer.rules.table_close = () => "</table></div>\n";
}
