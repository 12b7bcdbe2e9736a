// @ts-check

/**
 * Sequences that would change the terminal, its clipboard, its title or its input, and characters that hide or reorder text.
 * None of them may reach the terminal of a user.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const attacks = {
  clear: "\u001b[2J\u001b[H",
  colour: "\u001b[45m",
  alternateScreen: "\u001b[?1049h",
  mouse: "\u001b[?1000h",
  cursorReport: "\u001b[6n",
  clipboard: "\u001b]52;c;aGFja2Vk\u0007",
  title: "\u001b]0;owned\u001b\\",
  link: "\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007",
  device: "\u001bP$qm\u001b\\",
  reset: "\u001bc",
  c1: "\u009b45m\u009d0;owned\u009c\u0085",
  overwrite: "safe\roverwritten",
  bell: "\u0007",
  backspace: "approve\b\b\b\b\b\b\bdecline",
  bidirectional: "\u202efdp.exe\u202c",
  invisible: "a\u200bb\u2060c\u{e0041}",
  separators: "one\u2028two\u2029three",
};

/** A text with all attacks. It starts and ends with words that a test can find on the screen. */
export const hostileText = `hostile-start ${Object.values(attacks).join(" ")} hostile-end`;
