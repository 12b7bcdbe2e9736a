import { type Interface, createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { onAbort } from "@mcparley/internal/abort";
import { forTerminal, hideCursor, showCursor, writeFrame, writeText } from "../output.ts";
import { withAnySignal } from "../abort.ts";
import type { CommandIo } from "../io.ts";
import type { Screen } from "../screen.ts";
import type { Stop } from "../stop.ts";
import { brokenLines, widthOf } from "../text.ts";
import { KeyGuard } from "./key-guard.ts";
import { type KeyEvent, isInterrupt, pasteModeOff, pasteModeOn, readKeys } from "./keys.ts";

/** A dialog with the user at the terminal. */
export interface Prompter {
  /** Shows lines. Texts of servers must have passed `visibleLine` or `printable`. */
  say(text: string): void;
  /** Asks for a text. Throws `Dismissed` if the input ends or the question is withdrawn. */
  ask(prompt: string, options?: AskOptions): Promise<string>;
}

/** Options of a question. A terminal without cursor movement has no menus and asks for one line. */
export interface AskOptions {
  /** The text that is in the input at the start. */
  readonly initial?: string;
  /** Whether the answer can have several lines. Default: false. */
  readonly isMultiline?: boolean;
  /** Returns the menu for the text in the input. */
  readonly suggest?: Suggest;
}

/** Returns the menu for the text before the cursor, or undefined for none. `signal` is aborted when the text changes. */
export type Suggest = (text: string, signal: AbortSignal) => Menu | undefined | Promise<Menu | undefined>;

/** The entries of a menu beside the input. */
export interface Menu {
  readonly entries: readonly MenuEntry[];
  /** The number of characters before the cursor that the chosen entry replaces. */
  readonly replaces: number;
  /** Whether the first entry is selected at the start, so that Enter chooses it. Default: false, and Enter submits the text. */
  readonly isPreselected?: boolean;
}

/** An entry of a menu. */
export interface MenuEntry {
  /** The text that the entry inserts. */
  readonly value: string;
  /** The text to show. Default: `value`. */
  readonly label?: string;
  /** A description, which is shown dimmed. */
  readonly detail?: string;
}

/** The input has ended, or the question was withdrawn. */
export class Dismissed extends Error {
  override readonly name = "Dismissed";
}

/**
 * Opens the terminal for questions until it is closed. `signal` withdraws them.
 *
 * Keys that were pressed before a question could be read are ignored. The lines of a pipe answer the questions one after another. A
 * terminal in line editing mode delivers Ctrl-C as a key and not as a signal; `onInterrupt` is called for it.
 */
export function openPrompter(
  io: CommandIo,
  signal: AbortSignal,
  onInterrupt: () => void,
): Prompter & { close(): void } {
  const isTerminal = (io.stdin as Partial<ReadStream>).isTTY === true;
  const { lines, ask } = isTerminal ? openKeyLines(io, onInterrupt) : openPipeLines(io);
  const answers = new LineQueue(lines);
  const withdraw = (): void => lines.close();
  signal.addEventListener("abort", withdraw, { once: true });
  if (signal.aborted) withdraw();
  return {
    say: (text) => writeText(io.stderr, `${text}\n`),
    ask: (prompt, { initial } = {}) => {
      if (signal.aborted) return Promise.reject(new Dismissed());
      lines.setPrompt(forTerminal(withRows(prompt, io.columns())));
      if (!answers.hasEnded) ask(initial);
      return answers.next();
    },
    close: () => {
      signal.removeEventListener("abort", withdraw);
      lines.close();
    },
  };
}

/** Returns a prompt that the terminal does not break within a word. Its last row leaves one column for the answer. */
function withRows(prompt: string, columns: number | undefined): string {
  if (columns === undefined || widthOf(prompt) < columns) return prompt;
  return `${brokenLines(prompt.trimEnd(), Math.max(columns - 2, 10)).join("\n")} `;
}

/** The lines of a pipe or of a terminal, one of which answers a question. */
interface QuestionLines {
  readonly lines: Interface;
  /** Shows the prompt, with a text in the input. */
  ask(this: void, initial: string | undefined): void;
}

function openPipeLines(io: CommandIo): QuestionLines {
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  return { lines, ask: () => lines.prompt() };
}

const ignoredKeysNote = "Keys typed before the question, or within half a second after it, were ignored.";

/** Opens the line editor of a terminal. It receives keys only while a question can be answered. */
function openKeyLines(io: CommandIo, onInterrupt: () => void): QuestionLines {
  const { stdin, stderr } = io;
  const setRawMode = (isRaw: boolean): void => void (stdin as Partial<ReadStream>).setRawMode?.(isRaw);
  const input = Object.assign(new PassThrough(), { setRawMode });
  const lines = createInterface({ input, output: io.stderr, terminal: true, historySize: 0 });
  const guard = new KeyGuard(io, stderr);
  let isAnswerable = false;
  let hasIgnored = false;
  const press = (event: KeyEvent): void => {
    if (isInterrupt(event) || isAnswerable) writeKey(event, lines);
    else hasIgnored = true;
  };
  const stopKeys = readKeys(stdin, press);
  const end = (): void => lines.close();
  const enablePasteMode = (): void => writeFrame(stderr, [{ control: pasteModeOn }]);
  enablePasteMode();
  stdin.once("end", end).resume();
  lines
    .on("SIGINT", onInterrupt)
    .on("SIGCONT", enablePasteMode)
    .on("line", () => (isAnswerable = false))
    .once("close", () => {
      guard.stop();
      stopKeys();
      stdin.off("end", end).pause();
      writeFrame(stderr, [{ control: showCursor + pasteModeOff }]);
    });
  return {
    lines,
    ask: (initial) => {
      const write = (): void => {
        writeFrame(stderr, [{ control: hideCursor }]);
        lines.prompt();
        if (initial !== undefined && !initial.includes("\n")) lines.write(initial);
      };
      guard.start(write, () => {
        isAnswerable = true;
        if (hasIgnored) {
          writeText(stderr, `\n${ignoredKeysNote}\n`);
          lines.prompt(true);
        }
        hasIgnored = false;
        writeFrame(stderr, [{ control: showCursor }]);
      });
    },
  };
}

/** Sends a key to a line editor. A paste becomes one line, and does not submit it. */
function writeKey(event: KeyEvent, lines: Interface): void {
  if (event.type === "paste") lines.write(event.text.trimEnd().replaceAll(/\s*\n\s*/g, " "));
  else if (event.text !== "") lines.write(event.text);
  else lines.write(null, event.key);
}

/** A question that waits for a line. */
interface Waiting {
  resolve(line: string): void;
  reject(error: Error): void;
}

/** The lines of an interface in their order. The `question` of `readline` drops lines that arrive between two questions. */
export class LineQueue {
  hasEnded = false;
  readonly #lines: string[] = [];
  /** The last question takes the next line. */
  readonly #waiting: Waiting[] = [];

  constructor(source: Interface) {
    source.on("line", (line) => {
      const waiting = this.#waiting.pop();
      if (waiting) waiting.resolve(line);
      else this.#lines.push(line);
    });
    source.once("close", () => {
      this.hasEnded = true;
      for (const waiting of this.#waiting.splice(0)) waiting.reject(new Dismissed());
    });
  }

  /**
   * Returns the next line, before the questions that wait already. Rejects with `Dismissed` if there is none, or if the signal is
   * aborted, which keeps later lines.
   */
  next(signal?: AbortSignal): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.hasEnded || signal?.aborted) return Promise.reject(new Dismissed());
    return new Promise<string>((resolve, reject) => {
      const waiting: Waiting = {
        resolve: (nextLine) => (removeListener(), resolve(nextLine)),
        reject: (error) => (removeListener(), reject(error)),
      };
      this.#waiting.push(waiting);
      const removeListener = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new Dismissed());
      });
    });
  }

  /** Returns the lines that have arrived, and removes them. */
  takeAll(): string[] {
    return this.#lines.splice(0);
  }
}

/** The terminal of a dialog. */
export interface TalkSetting {
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly stop: Stop;
}

/** Returns whether a user can be asked. */
export function isAttended({ io, options }: { io: CommandIo; options: { readonly noInput: boolean } }): boolean {
  return io.isTerminal.stdin && io.isTerminal.stderr && !options.noInput;
}

/** Returns why no user can be asked, as a clause. */
export function whyUnasked({ noInput }: { readonly noInput: boolean }): string {
  return noInput ? "--no-input was given" : "there is no terminal to ask at";
}

/** Opens the terminal for one dialog. Returns undefined if the user or the signal interrupts it. */
export async function talk<T>(
  { io, screen, stop }: TalkSetting,
  signal: AbortSignal,
  run: (prompter: Prompter) => Promise<T>,
): Promise<T | undefined> {
  const dialog = async (either: AbortSignal): Promise<T | undefined> => {
    // The user's time does not count for `--timeout`.
    const resume = stop.pause();
    const prompter = openPrompter(io, either, () => stop.interrupt());
    try {
      return await run(prompter);
    } catch (error) {
      if (!(error instanceof Dismissed)) throw error;
      // The cursor is still on the line of the question.
      prompter.say("");
      return undefined;
    } finally {
      prompter.close();
      resume();
    }
  };
  return screen.quietly(() => withAnySignal([signal, stop.signal], dialog));
}
