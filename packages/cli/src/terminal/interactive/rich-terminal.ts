import type { Readable, Writable } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { onAbort } from "@mcparley/internal/abort";
import { wrapAnsi } from "fast-wrap-ansi";
import { printable } from "mcparley";
import type { CommandIo } from "../io.ts";
import { type FramePart, writeFrame } from "../output.ts";
import { Dismissed } from "../questions/prompter.ts";
import { type Style, cut, styleFor } from "../text.ts";
import { KeyGuard } from "../questions/key-guard.ts";
import { type AreaContent, BottomArea, type Size } from "./bottom-area.ts";
import { imageSequence } from "./image-sequence.ts";
import { type KeyEvent, pasteModeOff, pasteModeOn, readKeys } from "../questions/keys.ts";
import { inputRows } from "./input-rows.ts";
import { LineEditor } from "./line-editor.ts";
import { OpenInput } from "./open-input.ts";
import type { ChatTerminal, InputOptions, TerminalOptions } from "./terminal.ts";

const clearScreen = "\u001b[2J\u001b[H";

/** A terminal whose cursor can be moved. Keys are read one by one until it is closed. */
export class RichTerminal implements ChatTerminal {
  readonly isRich = true;
  hasEnded = false;
  readonly #io: CommandIo;
  readonly #options: TerminalOptions;
  readonly #input: Readable & Partial<Pick<ReadStream, "setRawMode">>;
  readonly #output: Writable & Partial<Pick<WriteStream, "columns" | "rows">>;
  readonly #style: Style;
  readonly #area: BottomArea;
  readonly #stopKeys: () => void;
  /** The inputs that wait for an answer. The last one is shown. */
  readonly #inputs: OpenInput[] = [];
  readonly #history = new LineEditor();
  readonly #guard: KeyGuard;
  /** The input that was shown last. */
  #front: OpenInput | undefined;
  #status: readonly string[] = [];
  /** The last, unfinished line of a text that arrives in parts. */
  #line: string | undefined;

  constructor(io: CommandIo, options: TerminalOptions) {
    this.#io = io;
    this.#options = options;
    this.#input = io.stdin;
    this.#output = io.stdout;
    this.#style = styleFor(true, io.env);
    this.#area = new BottomArea(io.stdout, () => this.#size());
    this.#guard = new KeyGuard(io, io.stdout);
    this.#stopKeys = readKeys(io.stdin, (event) => this.#press(event));
    this.#output.on("resize", this.#onResize);
    this.#input.once("end", this.#onEnd);
    // The terminal was closed. These listeners remain, because the attempt to restore its modes fails too.
    this.#input.on("error", this.#onEnd);
    this.#output.on("error", this.#onEnd);
    this.#start();
  }

  get view(): ChatTerminal["view"] {
    return { terminal: true, width: this.#size().columns, style: this.#style };
  }

  get isTyping(): boolean {
    return (this.#inputs.at(-1)?.editor.text ?? "") !== "";
  }

  print(text: string): void {
    this.endText();
    this.#print([{ text: this.#wrapped(text) }, { control: "\n" }]);
  }

  note(text: string): void {
    this.print(text);
  }

  write(text: string): void {
    const lines = ((this.#line ?? "") + text).split("\n");
    const rows = lines.flatMap((line) => this.#wrapped(line).split("\n"));
    // The last row can grow. The others are final.
    this.#line = rows.pop() ?? "";
    if (rows.length > 0) this.#print([{ text: rows.join("\n") }, { control: "\n" }]);
    else this.#draw();
  }

  endText(): void {
    const line = this.#line;
    this.#line = undefined;
    if (line !== undefined && line !== "") this.#print([{ text: line }, { control: "\n" }]);
  }

  status(lines: readonly string[]): void {
    this.#status = lines;
    this.#draw();
  }

  refresh(): void {
    this.#inputs.at(-1)?.refresh();
    this.#draw();
  }

  image(data: Uint8Array, mimeType: string): boolean {
    const control = imageSequence(data, mimeType, this.#io.env);
    if (control === undefined) return false;
    this.endText();
    this.#print([{ control }, { control: "\n" }]);
    return true;
  }

  async ask(prompt: string, options: InputOptions = {}, signal?: AbortSignal): Promise<string> {
    if (this.hasEnded || signal?.aborted) throw new Dismissed();
    this.endText();
    const lines = prompt.split("\n");
    const promptLine = lines.pop() ?? "";
    if (lines.length > 0) this.print(lines.join("\n"));
    const editor = options.hasHistory ? this.#history : new LineEditor();
    const input = new OpenInput(editor, { ...options, prompt: promptLine }, () => this.#draw());
    const removeListener = onAbort(signal, () => input.dismiss());
    // A question stays in front of the message input, which can be opened later.
    if (options.hasHistory) this.#inputs.unshift(input);
    else this.#inputs.push(input);
    this.#showFront();
    try {
      const text = await input.answer;
      this.#remove(input);
      this.print(`${promptLine}${shownAnswer(text)}`);
      return text;
    } finally {
      removeListener();
      this.#remove(input);
      if (editor !== this.#history) editor.close();
      this.#showFront();
    }
  }

  clearInput(): boolean {
    if (!this.isTyping) return false;
    this.#inputs.at(-1)?.clear();
    this.#draw();
    this.#options.onEmptied?.();
    return true;
  }

  close(): void {
    if (this.hasEnded) return;
    this.endText();
    this.hasEnded = true;
    this.#guard.stop();
    for (const input of this.#inputs) input.dismiss();
    this.#stopKeys();
    this.#output.off("resize", this.#onResize);
    this.#input.off("end", this.#onEnd);
    this.#history.close();
    this.#stop();
    this.#input.pause();
  }

  #start(): void {
    this.#input.setRawMode?.(true);
    this.#input.resume();
    writeFrame(this.#output, [{ control: pasteModeOn }]);
  }

  #stop(): void {
    this.#area.erase();
    writeFrame(this.#output, [{ control: pasteModeOff }]);
    this.#input.setRawMode?.(false);
  }

  #press(event: KeyEvent): void {
    if (event.type === "key" && event.ctrl) {
      if (event.name === "c") return this.#options.onInterrupt();
      if (event.name === "l") return this.#clear();
      if (event.name === "z") return this.#suspend();
    }
    const input = this.#inputs.at(-1);
    if (!input || input.isAnswered || this.#guard.isActive) return this.#pressAhead(event);
    const wasTyping = this.isTyping;
    input.press(event);
    // A submitted text is printed next. An empty input before would look like a new one.
    if (!input.isAnswered) this.#draw();
    if (wasTyping && !this.isTyping) this.#options.onEmptied?.();
  }

  /**
   * Keeps what is typed while nothing is asked, or before a question could be read, for the next message. It never answers a question,
   * and never sends the message.
   */
  #pressAhead(event: KeyEvent): void {
    this.#history.pressAhead(event);
    // A submitted text is printed next. An empty input before would look like a new one.
    if (!this.#inputs.at(-1)?.isAnswered) this.#draw();
  }

  /** Draws the last input. A question that was not shown before takes no keys until it could be read. */
  #showFront(): void {
    const input = this.#inputs.at(-1);
    if (this.hasEnded || input === this.#front) return this.#draw();
    this.#front = input;
    const draw = (): void => this.#draw();
    if (input && input.editor !== this.#history) return this.#guard.start(draw, draw);
    this.#guard.stop();
    // Text can have been typed ahead.
    this.refresh();
  }

  #clear(): void {
    this.#area.erase();
    writeFrame(this.#output, [{ control: clearScreen }]);
    this.#draw();
  }

  /** Returns the terminal to the shell until the process is continued. */
  #suspend(): void {
    if (this.#io.platform === "win32") return;
    this.#stop();
    process.once("SIGCONT", () => {
      if (this.hasEnded) return;
      this.#start();
      // An open question is written again.
      this.#front = undefined;
      this.#showFront();
    });
    process.kill(process.pid, "SIGTSTP");
  }

  readonly #onResize = (): void => this.#draw();
  readonly #onEnd = (): void => this.close();

  #remove(input: OpenInput): void {
    const index = this.#inputs.indexOf(input);
    if (index !== -1) this.#inputs.splice(index, 1);
  }

  #print(parts: readonly FramePart[]): void {
    if (!this.hasEnded) this.#area.print(parts, this.#content());
  }

  #draw(): void {
    if (!this.hasEnded) this.#area.draw(this.#content());
  }

  #content(): AreaContent {
    const size = this.#size();
    // The window can be narrower than at the time of the last `write`.
    const line = this.#line === undefined ? [] : this.#wrapped(this.#line).split("\n");
    const rowsAbove = [...line, ...this.#status.map((text) => this.#style.dim(cut(text, size.columns - 1)))];
    const front = this.#inputs.at(-1);
    const aheadContent = front?.editor === this.#history ? undefined : this.#ahead(size);
    const input = front?.content(size, this.#style) ?? aheadContent;
    if (!input) return { rows: rowsAbove, cursor: undefined };
    const rowsBelow = front && aheadContent ? aheadContent.rows.map((row) => this.#style.dim(row)) : [];
    const rows = [...rowsAbove, ...input.rows, ...rowsBelow];
    // The cursor appears when keys answer the question.
    const cursor = this.#guard.isActive ? undefined : input.cursor;
    return { rows, cursor: cursor && { ...cursor, row: cursor.row + rowsAbove.length } };
  }

  /** Returns the rows of the text that is typed for the next message. Undefined if there is none. */
  #ahead({ columns, rows }: Size): AreaContent | undefined {
    const { text, cursor } = this.#history;
    return text === "" ? undefined : inputRows({ prompt: "> ", text, cursor }, columns, Math.max(1, rows >> 2));
  }

  #wrapped(text: string): string {
    const { columns } = this.#size();
    return text
      .replaceAll("\t", "    ")
      .split("\n")
      .map((line) => wrapAnsi(line, columns, { hard: true, trim: false }).replaceAll(wrappedSpace, "\n$1"))
      .join("\n");
  }

  #size(): Size {
    const { columns, rows } = this.#output;
    return { columns: Math.max(8, columns || 80), rows: Math.max(4, rows || 24) };
  }
}

/** The space between two words, at the start of a wrapped line, behind the colours that the line continues. */
// oxlint-disable-next-line no-control-regex -- matches escape sequences
const wrappedSpace = /\n((?:\u001b\[[\d;]*m)*) /g;

/** Maximum lines of an answer that are shown again when it was submitted. */
const shownLines = 20;

function shownAnswer(text: string): string {
  // A value of a server that was chosen can contain any character.
  const lines = printable(text).split("\n");
  if (lines.length <= shownLines) return lines.join("\n");
  return [...lines.slice(0, shownLines), `(${lines.length - shownLines} more lines)`].join("\n");
}
