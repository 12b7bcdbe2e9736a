import { type Interface, createInterface } from "node:readline";
import type { CommandIo } from "../../client/io.ts";
import { Dismissed, LineQueue } from "../../client/questions/prompter.ts";
import { styleFor } from "../../client/terminal-text.ts";
import { writeExactly, writeText } from "../../output.ts";
import type { ChatTerminal, InputOptions, TerminalOptions } from "./terminal.ts";

/** Milliseconds within which the lines of a paste arrive. Nobody types two lines in this time. */
const pasteTime = 50;

/** Resolves when the lines of a paste have arrived. */
type Settle = () => Promise<void>;
const waitForPaste: Settle = () => new Promise((resolve) => setTimeout(resolve, pasteTime));

/**
 * Opens a terminal without cursor movement, or pipes: lines are read from stdin, text goes to stdout, and questions to stderr.
 *
 * `settle` waits for the lines of a paste. For tests. Default: 50 ms.
 */
export function openPlainTerminal(
  io: CommandIo,
  options: TerminalOptions,
  settle: Settle = waitForPaste,
): ChatTerminal {
  return new PlainTerminal(io, options, settle);
}

class PlainTerminal implements ChatTerminal {
  readonly isRich = false;
  readonly isTyping = false;
  readonly #io: CommandIo;
  readonly #settle: Settle;
  readonly #lines: Interface;
  readonly #queue: LineQueue;
  readonly #stopListening: () => void;
  /** Whether the last text has no line break at its end. */
  #isInLine = false;
  #status: readonly string[] = [];
  /** The questions that wait for an answer. The next line answers the last one. */
  readonly #open: { readonly prompt: string; readonly answer: Promise<string> }[] = [];

  constructor(io: CommandIo, { onInterrupt }: TerminalOptions, settle: Settle) {
    this.#io = io;
    this.#settle = settle;
    this.#lines = createInterface({ input: io.stdin, terminal: false });
    this.#queue = new LineQueue(this.#lines);
    this.#stopListening = io.onInterrupt(onInterrupt);
  }

  get view(): ChatTerminal["view"] {
    const { isTerminal, env } = this.#io;
    const width = isTerminal.stdout ? this.#io.columns() : undefined;
    return { terminal: isTerminal.stdout, width: width ?? Infinity, style: styleFor(isTerminal.stdout, env) };
  }

  get hasEnded(): boolean {
    return this.#queue.ended;
  }

  print(text: string): void {
    this.endText();
    this.#besideQuestion(() => this.#write(`${text}\n`));
  }

  note(text: string): void {
    this.endText();
    this.#besideQuestion(() => this.#ask(`${text}\n`));
  }

  write(text: string): void {
    if (text === "") return;
    this.#isInLine = !text.endsWith("\n");
    this.#write(text);
  }

  endText(): void {
    if (this.#isInLine) this.#write("\n");
    this.#isInLine = false;
  }

  /** Prints the lines that were not in the last status, because none can be replaced. */
  status(lines: readonly string[]): void {
    for (const line of lines) if (!this.#status.includes(line)) this.#ask(`${line}\n`);
    this.#status = lines;
  }

  refresh(): void {}

  image(): boolean {
    return false;
  }

  async ask(prompt: string, options: InputOptions = {}, signal?: AbortSignal): Promise<string> {
    // A message never takes the answer of a question that is open.
    if (options.hasHistory) await this.#questionsAnswered(signal);
    if (signal?.aborted) throw new Dismissed();
    const question = { prompt, answer: this.#read(prompt, options, signal) };
    this.#open.push(question);
    try {
      return await question.answer;
    } finally {
      this.#open.splice(this.#open.indexOf(question), 1);
      const before = this.#open.at(-1);
      if (before && !this.#queue.ended) this.#showPrompt(before.prompt);
    }
  }

  clearInput(): boolean {
    return false;
  }

  close(): void {
    this.endText();
    this.#stopListening();
    this.#lines.close();
  }

  async #questionsAnswered(signal: AbortSignal | undefined): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    while (this.#open.length > 0) {
      if (signal?.aborted) return;
      await Promise.race([aborted, Promise.allSettled(this.#open.map(({ answer }) => answer))]);
    }
  }

  /** Asks until the user has confirmed a paste of several lines, or typed one line. */
  async #read(prompt: string, options: InputOptions, signal: AbortSignal | undefined): Promise<string> {
    for (;;) {
      this.#showPrompt(prompt);
      const first = await this.#queue.next(signal);
      if (!this.#io.isTerminal.stdin || !options.isMultiline) return first;
      await this.#settle();
      const more = this.#queue.takeAll();
      if (more.length === 0) return first;
      this.#ask(`${more.length + 1} lines were pasted. Press Enter to send them, or type "no" to discard them. `);
      const answer = await this.#queue.next(signal);
      if (answer.trim() === "") return [first, ...more].join("\n");
    }
  }

  /** Shows a text on its own line, and then the open question again. */
  #besideQuestion(show: () => void): void {
    const question = this.#io.isTerminal.stdin ? this.#open.at(-1) : undefined;
    if (question) this.#ask("\n");
    show();
    if (question) this.#ask(question.prompt);
  }

  #showPrompt(prompt: string): void {
    this.endText();
    if (this.#io.isTerminal.stdin) this.#ask(prompt);
  }

  #write(text: string): void {
    if (this.#io.isTerminal.stdout) writeText(this.#io.stdout, text);
    else writeExactly(this.#io.stdout, text);
  }

  #ask(text: string): void {
    writeText(this.#io.stderr, text);
  }
}
