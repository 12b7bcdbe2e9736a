// @ts-check

/** The last byte of the sequence of a key that moves the cursor. */
const cursorKeys = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" };

/** The number in the sequence of an editing key. */
const editingKeys = { insert: 2, delete: 3, "page-up": 5, "page-down": 6 };

/** Keys that send the same bytes in each mode. */
const plainKeys = { enter: "\r", tab: "\t", escape: "\u001b", backspace: "\u007f", space: " " };

/** The modifiers of xterm's sequences, such as `ESC [ 1 ; 5 D` for Ctrl-Left. */
const modifiers = { shift: 1, alt: 2, ctrl: 4 };

/**
 * A name of a key, such as `up`, `enter`, `ctrl-c`, `alt-enter`, `shift-tab` or `ctrl-left`.
 *
 * @typedef {keyof typeof cursorKeys | keyof typeof editingKeys | keyof typeof plainKeys | `${keyof typeof modifiers}-${string}`} Key
 */

/**
 * Returns the bytes that xterm sends for a key.
 *
 * `isApplication` is the mode of the cursor keys, which the program selects.
 *
 * @param {Key} key @param {{ isApplication?: boolean }} [mode]
 */
export function bytesOfKey(key, { isApplication = false } = {}) {
  const parts = /^((?:(?:ctrl|alt|shift)-)*)(.+)$/s.exec(key);
  const name = parts?.[2] ?? key;
  const held = (parts?.[1] ?? "").split("-").filter(Boolean);
  const sum = held.reduce((total, one) => total + modifiers[/** @type {keyof typeof modifiers} */ (one)], 0);
  const bytes = cursorKey(name, sum, isApplication) ?? editingKey(name, sum) ?? plainKey(name, sum);
  if (bytes === undefined) throw new Error(`The key ${JSON.stringify(key)} is unknown. Use press() for raw bytes.`);
  return bytes;
}

/** @param {string} name @param {number} sum @param {boolean} isApplication */
function cursorKey(name, sum, isApplication) {
  if (!Object.hasOwn(cursorKeys, name)) return undefined;
  const last = cursorKeys[/** @type {keyof typeof cursorKeys} */ (name)];
  if (sum > 0) return `\u001b[1;${sum + 1}${last}`;
  return isApplication ? `\u001bO${last}` : `\u001b[${last}`;
}

/** @param {string} name @param {number} sum */
function editingKey(name, sum) {
  if (!Object.hasOwn(editingKeys, name)) return undefined;
  const number = editingKeys[/** @type {keyof typeof editingKeys} */ (name)];
  return sum > 0 ? `\u001b[${number};${sum + 1}~` : `\u001b[${number}~`;
}

/** @param {string} name @param {number} sum */
function plainKey(name, sum) {
  if (sum === modifiers.shift && name === "tab") return "\u001b[Z";
  // A terminal that reports modifiers of Enter uses this form. Others send the same byte as Enter.
  if (sum === modifiers.shift && name === "enter") return "\u001b[13;2u";
  const hasAlt = (sum & modifiers.alt) > 0;
  const character = Object.hasOwn(plainKeys, name) ? plainKeys[/** @type {keyof typeof plainKeys} */ (name)] : name;
  if (!/^.$/su.test(character) || (sum & modifiers.shift) > 0) return undefined;
  const byte = (sum & modifiers.ctrl) > 0 ? controlOf(character) : character;
  return byte === undefined ? undefined : `${hasAlt ? "\u001b" : ""}${byte}`;
}

/** Returns the control character of a letter. @param {string} character */
function controlOf(character) {
  if (character === " ") return "\0";
  if (character === "\u007f") return "\b";
  return /^[a-z[\\\]^_]$/.test(character)
    ? String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f)
    : undefined;
}

/**
 * Returns the bytes that xterm sends for pasted text: line ends become carriage returns, escape characters a visible symbol.
 *
 * @param {string} text @param {{ isBracketed: boolean }} mode
 */
export function bytesOfPaste(text, { isBracketed }) {
  const lines = text.replaceAll(/\r?\n/g, "\r");
  return isBracketed ? `\u001b[200~${lines.replaceAll("\u001b", "\u241b")}\u001b[201~` : lines;
}
