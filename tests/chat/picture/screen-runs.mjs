// @ts-check
import { colours } from "./draw.mjs";

/** @import { PseudoTerminal } from "../support/pseudo-terminal.mjs" */
/** @import { Run } from "./draw.mjs" */
/** @typedef {PseudoTerminal["emulator"]} Emulator */
/** @typedef {ReturnType<Emulator["buffer"]["active"]["getNullCell"]>} Cell */

/** The 16 colours of the terminal that have names. */
const named =
  "484f58 ff7b72 7ee787 d29922 79c0ff d2a8ff 76e3ea b1bac4 6e7681 ffa198 aff5b4 e3b341 a5d6ff e2c5ff b3f0ff f0f6fc"
    .split(" ")
    .map((digits) => `#${digits}`);

/** The steps of red, green and blue in the colours 16 to 231. */
const steps = [0, 95, 135, 175, 215, 255];

/** Returns the visible lines of an emulator as runs of equal style, without the empty lines at the end. @param {Emulator} emulator */
export function screenRuns({ buffer: { active }, rows }) {
  const lines = Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    const cells = Array.from({ length: line?.length ?? 0 }, (_, column) => line?.getCell(column));
    return runsOf(cells);
  });
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** @param {readonly (Cell | undefined)[]} cells */
function runsOf(cells) {
  /** @type {(Run & { width: number })[]} */
  const runs = [];
  let before = "";
  for (const [column, cell] of cells.entries()) {
    // The second column of a wide character has a cell without a width.
    if (!cell || cell.getWidth() === 0) continue;
    const style = styleOf(cell);
    const key = JSON.stringify(style);
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    if (last && key === before) Object.assign(last, { text: last.text + text, width: last.width + cell.getWidth() });
    else runs.push({ text, column, width: cell.getWidth(), ...style });
    before = key;
  }
  return runs.flatMap(trimmed);
}

/** Removes the spaces around a run without a background. An empty one disappears. @param {Run & { width: number }} run @returns {Run[]} */
function trimmed(run) {
  if (run.background !== undefined || run.isUnderlined) return [run];
  const start = run.text.length - run.text.trimStart().length;
  const end = run.text.length - run.text.trimEnd().length;
  if (start === run.text.length) return [];
  const { text, column = 0, width } = run;
  return [{ ...run, text: text.trim(), column: column + start, width: width - start - end }];
}

/** @param {Cell} cell */
function styleOf(cell) {
  const own = { colour: foreground(cell), background: background(cell) };
  const isInverse = cell.isInverse() !== 0;
  const swapped = { colour: own.background ?? colours.background, background: own.colour ?? colours.text };
  return {
    ...withoutUndefined(isInverse ? swapped : own),
    ...(cell.isBold() && { isBold: true }),
    ...(cell.isDim() && { isDim: true }),
    ...(cell.isUnderline() && { isUnderlined: true }),
  };
}

/** @param {{ colour: string | undefined, background: string | undefined }} style */
function withoutUndefined({ colour, background }) {
  return { ...(colour !== undefined && { colour }), ...(background !== undefined && { background }) };
}

/** @param {Cell} cell */
function foreground(cell) {
  if (cell.isFgDefault()) return undefined;
  return cell.isFgRGB() ? rgb(cell.getFgColor()) : indexed(cell.getFgColor());
}

/** @param {Cell} cell */
function background(cell) {
  if (cell.isBgDefault()) return undefined;
  return cell.isBgRGB() ? rgb(cell.getBgColor()) : indexed(cell.getBgColor());
}

/** Returns a colour of the palette of 256: 16 with names, a cube of 216, and 24 greys. @param {number} index */
function indexed(index) {
  if (index < 16) return named[index] ?? colours.text;
  if (index >= 232) return rgb((8 + (index - 232) * 10) * 0x010101);
  const place = index - 16;
  const part = (/** @type {number} */ divisor) => steps[Math.trunc(place / divisor) % 6] ?? 0;
  return rgb((part(36) << 16) | (part(6) << 8) | part(1));
}

/** @param {number} value */
function rgb(value) {
  return `#${value.toString(16).padStart(6, "0")}`;
}
