// @ts-check

/** @import { IUnicodeVersionProvider, Terminal } from "@xterm/headless" */

/** Characters of East Asian scripts with two columns, and emoji that are shown as pictures. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const combining = /[\p{Mn}\p{Me}\u200b-\u200f\u2060-\u2064\ufeff\p{Emoji_Modifier}]/u;
const joiner = 0x200d;

/** The property of a character in the form of the emulator: a state, the width, and whether it joins the character before. */
const property = (/** @type {number} */ state, /** @type {number} */ width, /** @type {boolean} */ isJoined) =>
  (state << 3) | (width << 1) | Number(isJoined);

/**
 * Widths of emoji and of sequences with joiners, as current terminals show them. The emulator has those of Unicode 6 without
 * its addons, in which an emoji has one column.
 *
 * @type {IUnicodeVersionProvider}
 */
const widths = {
  version: "current",
  wcwidth: widthOf,
  charProperties(codepoint, preceding) {
    const before = (preceding >> 1) & 3;
    const width = widthOf(codepoint);
    const isJoined = preceding !== 0 && before > 0 && (width === 0 || preceding >> 3 === 1);
    return property(codepoint === joiner ? 1 : 0, isJoined ? Math.max(before, width) : width, isJoined);
  },
};

/** @param {number} codepoint @returns {0 | 1 | 2} */
function widthOf(codepoint) {
  if (codepoint < 0x20 || (codepoint >= 0x7f && codepoint < 0xa0)) return 0;
  if (codepoint < 0x300) return 1;
  const character = String.fromCodePoint(codepoint);
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Makes an emulator use the widths of current terminals. @param {Terminal} emulator */
export function useCurrentWidths(emulator) {
  emulator.unicode.register(widths);
  emulator.unicode.activeVersion = widths.version;
}
