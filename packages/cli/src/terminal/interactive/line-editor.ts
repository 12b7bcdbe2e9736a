import { type Interface, createInterface } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import type { KeyEvent } from "../questions/keys.ts";

/** Stands for a line break in the text of `readline`, which ends its line at a real one. A character for private use. */
const lineBreak = "\ue000";

/** The number of texts in the history. */
const historySize = 200;

/**
 * The text of an input with its cursor. The editing keys are those of `readline`, which runs without a terminal: this class sends
 * it keys, and reads the line.
 */
export class LineEditor {
  readonly #lines: Interface;

  /** `history` has the newest text first. */
  constructor(history: readonly string[] = []) {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    this.#lines = createInterface({
      input: new PassThrough(),
      output: nowhere,
      terminal: true,
      history: history.map(toLine),
      historySize,
      removeHistoryDuplicates: true,
    });
  }

  get text(): string {
    return this.#lines.line.replaceAll(lineBreak, "\n");
  }

  /** The number of characters before the cursor. */
  get cursor(): number {
    return this.#lines.cursor;
  }

  /** Inserts a text at the cursor. */
  insert(text: string): void {
    if (text !== "") this.#lines.write(toLine(text));
  }

  /** Replaces characters before the cursor by a text. */
  replaceBefore(characters: number, text: string): void {
    const start = Math.max(0, this.cursor - characters);
    while (this.cursor > start) this.#lines.write(null, { name: "backspace" });
    this.insert(text);
  }

  /** Replaces the whole text. */
  set(text: string): void {
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
    this.insert(text);
  }

  /**
   * Runs an editing key, such as a movement or the deletion of a word. Up and down move within a text of several lines. The keys for one
   * character pass or delete what a person sees as one, such as a joined emoji, a flag, or a letter with its marks.
   */
  press({ key, name, ctrl, meta }: KeyEvent & { type: "key" }): void {
    if ((name === "up" || name === "down") && this.#moveLine(name)) return;
    const step = meta ? undefined : characterSteps.get(ctrl ? `ctrl-${name}` : name);
    if (!step) return this.#lines.write(null, key);
    const { cursor } = this;
    const text = this.#lines.line;
    const end = step.isBack ? cursor : nextBoundary(text, cursor);
    const start = step.isBack ? previousBoundary(text, cursor) : cursor;
    if (step.isDeletion) {
      this.#moveTo(end);
      this.replaceBefore(end - start, "");
    } else this.#moveTo(step.isBack ? start : end);
  }

  /** Keeps what is typed before there is an input for it. Enter and other keys that would answer or leave have no effect. */
  pressAhead(event: KeyEvent): void {
    if (event.type === "paste" || event.text !== "") this.insert(event.text);
    else if (event.name === "backspace" || event.name === "left" || event.name === "right") this.press(event);
  }

  /** Returns the text, adds it to the history, and empties the input. */
  take(): string {
    const { text } = this;
    if (text.trim() === "") this.set("");
    else this.#lines.write(null, { name: "return" });
    return text;
  }

  close(): void {
    this.#lines.close();
  }

  /** Moves the cursor to the line above or below. Returns false at the first and the last line. */
  #moveLine(direction: "up" | "down"): boolean {
    const { text, cursor } = this;
    const start = text.lastIndexOf("\n", cursor - 1) + 1;
    const end = text.indexOf("\n", cursor);
    if (direction === "up" && start === 0) return false;
    if (direction === "down" && end === -1) return false;
    const target = direction === "up" ? text.lastIndexOf("\n", start - 2) + 1 : end + 1;
    const targetEnd = text.indexOf("\n", target);
    const column = Math.min(cursor - start, (targetEnd === -1 ? text.length : targetEnd) - target);
    const position = target + column;
    // A position within a character is moved to its start.
    this.#moveTo(position === text.length ? position : previousBoundary(text, position + 1));
    return true;
  }

  #moveTo(position: number): void {
    // A step passes a whole character, which can have two units.
    if (position < this.cursor) {
      while (this.cursor > position) this.#lines.write(null, { name: "left" });
    } else {
      while (this.cursor < position) this.#lines.write(null, { name: "right" });
    }
  }
}

/** The keys that pass or delete one character. The others are those of `readline`. */
const characterSteps: ReadonlyMap<string, { readonly isBack: boolean; readonly isDeletion: boolean }> = new Map([
  ["left", { isBack: true, isDeletion: false }],
  ["ctrl-b", { isBack: true, isDeletion: false }],
  ["right", { isBack: false, isDeletion: false }],
  ["ctrl-f", { isBack: false, isDeletion: false }],
  ["backspace", { isBack: true, isDeletion: true }],
  ["ctrl-h", { isBack: true, isDeletion: true }],
  ["delete", { isBack: false, isDeletion: true }],
  ["ctrl-d", { isBack: false, isDeletion: true }],
]);

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** UTF-16 units that are searched for the borders of a character. A longer sequence of marks is divided. */
const longestCharacter = 256;

/** Returns the position of the start of the character before a position. */
function previousBoundary(text: string, position: number): number {
  const start = Math.max(0, position - longestCharacter);
  return (
    start +
    (characters.segment(text.slice(start, position + longestCharacter)).containing(position - start - 1)?.index ?? 0)
  );
}

/** Returns the position of the end of the character at a position. */
function nextBoundary(text: string, position: number): number {
  const next = characters.segment(text.slice(position, position + longestCharacter)).containing(0);
  return position + (next?.segment.length ?? 0);
}

function toLine(text: string): string {
  return text.replaceAll(lineBreak, "").replaceAll("\n", lineBreak);
}
