import { type Interface, createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { untilAborted } from "../abort.ts";
import type { CommandIo } from "../io.ts";
import { KeyGuard } from "../questions/key-guard.ts";
import { type KeyEvent, isInterrupt, readKeys } from "../questions/keys.ts";
import { Dismissed, LineQueue } from "../questions/prompter.ts";
import { quoteName } from "../questions/server-text.ts";
import { styleFor, wrap } from "../text.ts";
import { writeExactly, writeText } from "../output.ts";
import { LineEditor } from "./line-editor.ts";
import type { ChatTerminal, InputOptions, TerminalOptions } from "./terminal.ts";

/** Milliseconds within which the lines of a paste arrive. Nobody types two lines in this time. */
const pasteTime = 50;

/** Resolves when the lines of a paste have arrived. */
type Settle = () => Promise<void>;
const waitForPaste: Settle = () => new Promise((resolve) => setTimeout(resolve, pasteTime));

/** An input that waits for an answer. */
interface OpenQuestion {
  readonly prompt: string;
  /** Whether it is the input of messages, and not a question. */
  readonly isMessage: boolean;
  readonly answer: Promise<string>;
}

/** A terminal without cursor movement, or pipes: lines are read from stdin, text goes to stdout, and questions to stderr. */
export class PlainTerminal implements ChatTerminal {
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
  readonly #open: OpenQuestion[] = [];
  readonly #guard: KeyGuard;
  /** The text that was typed before a question could be read. It is kept for the next message. */
  readonly #ahead = new LineEditor();

  /** `settle` waits for the lines of a paste. For tests. Default: 50 ms. */
  constructor(io: CommandIo, { onInterrupt }: TerminalOptions, settle: Settle = waitForPaste) {
    this.#io = io;
    this.#settle = settle;
    this.#guard = new KeyGuard(io, io.stderr);
    const input = io.isTerminal.stdin ? this.#openTerminalInput(onInterrupt) : io.stdin;
    this.#lines = createInterface({ input, terminal: false });
    this.#queue = new LineQueue(this.#lines);
    this.#stopListening = io.onInterrupt(onInterrupt);
  }

  get view(): ChatTerminal["view"] {
    const { isTerminal, env } = this.#io;
    const width = isTerminal.stdout ? this.#io.columns() : undefined;
    return { terminal: isTerminal.stdout, width: width ?? Infinity, style: styleFor(isTerminal.stdout, env) };
  }

  get hasEnded(): boolean {
    return this.#queue.hasEnded;
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
    const isMessage = options.hasHistory === true;
    const { isTerminal } = this.#io;
    const shownPrompt = isTerminal.stderr ? wrap(prompt, this.#io.columns() ?? Infinity).join("\n") : prompt;
    const answer = this.#read({ prompt: shownPrompt, isMessage }, options.isMultiline === true, signal);
    const question = { prompt: shownPrompt, isMessage, answer };
    this.#open.push(question);
    try {
      return await question.answer;
    } finally {
      this.#open.splice(this.#open.indexOf(question), 1);
      const previousQuestion = this.#open.at(-1);
      if (previousQuestion && !this.#queue.hasEnded) this.#showPrompt(previousQuestion);
    }
  }

  clearInput(): boolean {
    return false;
  }

  close(): void {
    this.endText();
    this.#stopListening();
    this.#endGuard();
    this.#lines.close();
    if (this.#io.isTerminal.stdin) this.#io.stdin.pause();
    this.#ahead.close();
  }

  /** Returns the input for lines. It does not receive the keys that are typed before a question could be read. */
  #openTerminalInput(onInterrupt: () => void): PassThrough {
    const lines = new PassThrough();
    const early = new PassThrough();
    const press = (event: KeyEvent): void => {
      if (isInterrupt(event)) onInterrupt();
      else this.#ahead.pressAhead(event);
    };
    readKeys(early, press);
    this.#io.stdin
      .on("data", (chunk: Buffer) => void (this.#guard.isActive ? early : lines).write(chunk))
      .once("end", () => lines.end());
    return lines;
  }

  async #questionsAnswered(signal: AbortSignal | undefined): Promise<void> {
    while (this.#open.length > 0) {
      if (signal?.aborted) return;
      const answers = Promise.allSettled(this.#open.map(({ answer }) => answer));
      await (signal ? untilAborted(answers, signal) : answers);
    }
  }

  /** Asks until the user has confirmed a paste of several lines, or typed one line. */
  async #read(
    question: Omit<OpenQuestion, "answer">,
    isMultiline: boolean,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    for (;;) {
      this.#showPrompt(question);
      const first = await this.#queue.next(signal);
      if (!this.#io.isTerminal.stdin || !isMultiline) return first;
      await this.#settle();
      const more = this.#queue.takeAll();
      const textAhead = question.isMessage ? this.#ahead.take() : "";
      if (more.length === 0) return first.trim() === "" ? textAhead : first;
      const prompt = `${more.length + 1} lines were pasted. Press Enter to send them, or type "no" to discard them. `;
      this.#showPrompt({ prompt, isMessage: false });
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

  #showPrompt({ prompt, isMessage }: Omit<OpenQuestion, "answer">): void {
    this.endText();
    if (!this.#io.isTerminal.stdin) return;
    if (!isMessage) return this.#showQuestion(prompt);
    this.#endGuard();
    const { text } = this.#ahead;
    if (text !== "") this.#ask(`Press Enter to send ${quoteName(text)}, or type another message.\n`);
    this.#ask(prompt);
  }

  /** Shows a question. What is typed before it could be read is kept for the next message. */
  #showQuestion(prompt: string): void {
    const oldText = this.#ahead.text;
    const write = (): void => {
      // In raw mode the terminal delivers a line that has no end yet.
      this.#setRawMode(true);
      this.#ahead.insert(this.#queue.takeAll().join("\n"));
      this.#ask(prompt);
    };
    this.#guard.start(write, () => {
      this.#setRawMode(false);
      const { text } = this.#ahead;
      if (text !== oldText) this.#ask(`\nYour text ${quoteName(text)} is kept for the next message.\n${prompt}`);
    });
  }

  #endGuard(): void {
    if (this.#guard.isActive) this.#setRawMode(false);
    this.#guard.stop();
  }

  #setRawMode(isRaw: boolean): void {
    (this.#io.stdin as Partial<ReadStream>).setRawMode?.(isRaw);
  }

  #write(text: string): void {
    if (this.#io.isTerminal.stdout) writeText(this.#io.stdout, text);
    else writeExactly(this.#io.stdout, text);
  }

  #ask(text: string): void {
    writeText(this.#io.stderr, text);
  }
}
