import type { Writable } from "node:stream";
import { printable } from "mcparley";

/** The escape sequences of this command: the colours of `styleFor`, and the removal of a progress line. */
// oxlint-disable-next-line no-control-regex -- matches escape sequences
const ownSequences = /(\u001b\[(?:1|2|7|22|27|31|33|39)m|\r\u001b\[2K)/;

/** Removes the progress line. */
export const eraseLine = "\r\u001b[2K";

/** Returns text that cannot control the terminal, except for the escape sequences of this command. */
export function forTerminal(text: string): string {
  // The sequences and the text between them alternate.
  return text
    .split(ownSequences)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join("");
}

/** Writes text for a person, on a terminal or in a log. All such text goes through this function. */
export function writeText(stream: Writable, text: string, done?: (error?: Error | null) => void): void {
  stream.write(forTerminal(text), done);
}

/** Writes results to a file or a pipe, which must have each byte. `stream` must not be a terminal. */
export function writeExactly(
  stream: Writable,
  chunk: string | Uint8Array,
  done?: (error?: Error | null) => void,
): void {
  stream.write(chunk, done);
}

export const hideCursor = "\u001b[?25l";
export const showCursor = "\u001b[?25h";

/** A control sequence of this command, or a text that cannot control the terminal. */
export type FramePart = { readonly control: string } | { readonly text: string };

/** Writes a frame of the chat to a terminal in one piece. Only its controls reach the terminal as such. */
export function writeFrame(stream: Writable, parts: readonly FramePart[]): void {
  stream.write(parts.map((part) => ("control" in part ? part.control : forTerminal(part.text))).join(""));
}
