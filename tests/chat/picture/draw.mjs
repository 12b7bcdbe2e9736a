// @ts-check

/**
 * A piece of a line with one style. Without a `width`, it takes the width that the font gives it.
 *
 * @typedef {object} Run
 * @property {string} text
 * @property {number} [column] the first column, from 0
 * @property {number} [width] the number of columns
 * @property {string} [name] a class of the style sheet
 * @property {string} [colour] of the text
 * @property {string} [background]
 * @property {boolean} [isBold]
 * @property {boolean} [isDim]
 * @property {boolean} [isUnderlined]
 */

/** Colours of the window and of its text. */
export const colours = { background: "#161b22", text: "#d7dae0" };

/** The place of the text in the window, and the size of a character of a screen, in pixels. */
const [left, top, lineHeight, cell] = [20, 52, 20, 8.1];

/** Returns the width of a window for a number of columns. @param {number} columns */
export function widthFor(columns) {
  return Math.ceil(columns * cell) + 2 * left;
}

/**
 * Draws a terminal window as an SVG. `label` describes it for people who cannot see it.
 *
 * @param {readonly (readonly Run[])[]} lines @param {{ label: string, width: number }} options
 */
export function drawTerminal(lines, { label, width }) {
  const height = top + lines.length * lineHeight + 8;
  const rows = lines.flatMap((runs, index) => runs.flatMap((run) => drawRun(run, top + index * lineHeight)));
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (colour, index) => `  <circle cx="${22 + index * 20}" cy="20" r="6" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(label).replaceAll('"', "&quot;")}">`,
    `  <style>text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: ${colours.text} } .command { fill: #7ee787; font-weight: 600 }</style>`,
    `  <rect width="${width}" height="${height}" rx="10" fill="${colours.background}"/>`,
    ...dots,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

/** Returns the background of a run, if it has one, and its text. @param {Run} run @param {number} y */
function drawRun({ text, column = 0, width, name, background, ...style }, y) {
  const x = left + round(column * cell);
  const length = round((width ?? 0) * cell);
  // A fixed length keeps the columns aligned with each other in every font.
  const fixed = width === undefined ? "" : ` textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
  const named = name === undefined ? "" : ` class="${name}"`;
  const drawn = `  <text x="${x}" y="${y}"${named}${fixed}${styleOf(style)} xml:space="preserve">${escape(text)}</text>`;
  if (background === undefined) return [drawn];
  return [`  <rect x="${x}" y="${y - 15}" width="${length}" height="${lineHeight}" fill="${background}"/>`, drawn];
}

/** @param {Pick<Run, "colour" | "isBold" | "isDim" | "isUnderlined">} style */
function styleOf({ colour, isBold, isDim, isUnderlined }) {
  const rules = [
    ...(colour === undefined ? [] : [`fill: ${colour}`]),
    ...(isBold ? ["font-weight: 600"] : []),
    ...(isDim ? ["opacity: 0.6"] : []),
    ...(isUnderlined ? ["text-decoration: underline"] : []),
  ];
  return rules.length === 0 ? "" : ` style="${rules.join("; ")}"`;
}

/** @param {number} pixels */
function round(pixels) {
  return Math.round(pixels * 10) / 10;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
