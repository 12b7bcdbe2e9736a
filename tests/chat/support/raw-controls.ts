import { printable } from "mcparley";

/**
 * The control sequences that the command itself writes: some colours, movements of the cursor, deletions up to the end
 * of the screen, the visibility of the cursor, bracketed paste and synchronized output.
 *
 * The styles are those of `styleFor`. A carriage return is allowed, because the command returns to the start of a line with it.
 */
const allowed: readonly RegExp[] = [
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /^\u001b\[(?:0|1|2|7|22|27|31|33|39)?m$/,
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /^\u001b\[(?:\d*[ABCDEFGK]|0?J)$/,
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /^\u001b\[\d+;\d+H$/,
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /^\u001b\[\?(?:25|2004|2026)[hl]$/,
  /^\r$/,
];

/**
 * A control sequence, as far as the output has it; a single control character; or text without any of them.
 *
 * Sequences are CSI, OSC and the other strings in the form of one or two characters, and those of ESC with one more character.
 */
const parts =
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?|(?:[\t\n]|\P{Cc})+|\p{Cc}/gu;

/**
 * Returns the parts of the output that the command does not write itself, in a visible form: control sequences, and lines with
 * invisible or reordering characters. They come from a server.
 *
 * `also` are further sequences that a test expects, such as those of images.
 */
export function rawControls(raw: string, { also = [] }: { also?: readonly RegExp[] } = {}): string[] {
  return [...raw.matchAll(parts)].flatMap(([part]) => {
    if (/^\p{Cc}/u.test(part) && !/^[\t\n]/.test(part)) {
      return [...allowed, ...also].some((pattern) => pattern.test(part)) ? [] : [printable(part)];
    }
    return part
      .split("\n")
      .filter((line) => printable(line) !== line)
      .map((line) => printable(line));
  });
}
