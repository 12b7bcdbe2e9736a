import { type Progress, printable, printableJson } from "mcparley";
import type { ReceivedPart } from "mcparley/client";
import { eraseLine, writeExactly, writeText } from "./output.ts";
import { type CommandIo, UsageError } from "./io.ts";
import { type Style, cut, styleFor, visibleLine, wrap } from "./text.ts";

/** Width and colours of text for a stream. */
export interface View {
  readonly terminal: boolean;
  /** Columns to wrap at. Infinity if the stream is not a terminal. */
  readonly width: number;
  readonly style: Style;
}

/** The bytes of a reply, and the step in bytes, from which on its arrival is shown: 1 MiB. */
const largeReply = 1_048_576;

/** Maximum columns of a progress line. Longer lines do not help on a wider terminal. */
const widest = 120;

/**
 * The two output streams: results go to stdout, and progress, log messages and questions to stderr.
 *
 * On a terminal there is one progress line. It is removed before any other output.
 */
export class Screen {
  readonly out: View;
  readonly err: View;
  readonly #io: CommandIo;
  #progress = "";
  #held: string[] | undefined;
  #broken = false;

  /** `onBroken` is called once, when the reader of stdout closes the pipe. */
  constructor(io: CommandIo, onBroken: () => void) {
    this.#io = io;
    this.out = viewOf(io, io.isTerminal.stdout);
    this.err = viewOf(io, io.isTerminal.stderr);
    io.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (this.#broken || !isBrokenPipe(error)) return;
      this.#broken = true;
      onBroken();
    });
    // A closed stderr must not make the command fail.
    io.stderr.on("error", () => {});
  }

  /** Writes to stdout and settles when the text is written. Does nothing after the reader closed the pipe. */
  async print(chunk: string | Uint8Array): Promise<void> {
    this.#erase();
    if (this.#broken) return;
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null): void => {
        if (!error || isBrokenPipe(error)) resolve();
        else reject(new UsageError(`stdout cannot be written: ${error.message}`));
      };
      if (typeof chunk === "string" && this.out.terminal) writeText(this.#io.stdout, chunk, done);
      else writeExactly(this.#io.stdout, chunk, done);
    });
  }

  /** Writes several chunks to stdout, each when the reader has taken the one before. */
  async printAll(chunks: Iterable<Uint8Array>): Promise<void> {
    for (const chunk of chunks) await this.print(chunk);
  }

  /** Writes a line to stderr, or keeps it until a question is answered. `text` is safe to show. */
  note(text: string): void {
    if (this.#held) {
      this.#held.push(text);
      return;
    }
    this.#erase();
    writeText(this.#io.stderr, `${text}\n`);
    this.#draw();
  }

  /** Writes a text to stderr as one paragraph, wrapped on a terminal. Unsafe characters are escaped. `mark` colours it. */
  noteParagraph(text: string, mark: (text: string) => string = String): void {
    this.note(mark(paragraph(visibleLine(text), this.err)));
  }

  /** Shows the progress that the server reports for the current call. */
  progress(report: Progress): void {
    this.status(progressText(report));
  }

  /** Shows how much of a large reply has arrived. Does nothing if stderr is not a terminal. */
  showReceived({ bytes, total }: ReceivedPart): void {
    if (!this.#io.isTerminal.stderr || bytes < largeReply) return;
    const text = receivedText(bytes, total);
    if (text !== this.#progress) this.status(text);
  }

  /** Shows the status of the current call in the progress line. `text` is safe to show. */
  status(text: string): void {
    if (!this.#io.isTerminal.stderr) {
      this.note(`progress: ${text}`);
      return;
    }
    this.#progress = text;
    if (!this.#held) this.#draw();
  }

  /** Removes the progress line. */
  endProgress(): void {
    this.#erase();
    this.#progress = "";
  }

  /** Holds back notes while `ask` runs a dialog with the user, and writes them afterwards. */
  async quietly<T>(ask: () => Promise<T>): Promise<T> {
    this.#erase();
    this.#held = [];
    try {
      return await ask();
    } finally {
      const notes = this.#held;
      this.#held = undefined;
      for (const text of notes) this.note(text);
    }
  }

  #erase(): void {
    if (this.#progress !== "" && !this.#held) writeText(this.#io.stderr, eraseLine);
  }

  #draw(): void {
    if (this.#progress === "") return;
    const columns = Math.min(this.#io.columns() ?? 80, widest) - 1;
    writeText(this.#io.stderr, eraseLine + this.err.style.dim(cut(this.#progress, columns)));
  }
}

/** Returns the width and the colours of text for a stream. `terminal` is whether it is a terminal. */
export function viewOf(io: CommandIo, terminal: boolean): View {
  return { terminal, width: terminal ? (io.columns() ?? 80) : Infinity, style: styleFor(terminal, io.env) };
}

function isBrokenPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
}

function receivedText(bytes: number, total: number | undefined): string {
  // Whole units, so that the line changes at most a few hundred times.
  const mebibytes = `${Math.floor(bytes / largeReply)}`;
  if (total === undefined || total < bytes) return `received ${mebibytes} MiB`;
  return `${Math.floor((bytes / total) * 100)}% (received ${mebibytes} of ${Math.ceil(total / largeReply)} MiB)`;
}

function progressText({ progress, total, message }: Progress): string {
  const share = total !== undefined && total > 0 ? `${Math.floor((progress / total) * 100)}% ` : "";
  const count = total === undefined ? `${progress}` : `${share}(${progress}/${total})`;
  return message === undefined ? count : `${count} ${visibleLine(message)}`;
}

/** Returns untrusted text, made safe, wrapped and indented. */
export function paragraph(text: string, view: View, indent = ""): string {
  const safe = printable(text).trim();
  const lines = view.width === Infinity ? safe.split("\n") : wrap(safe, view.width - indent.length);
  return lines.map((line) => (line === "" ? "" : indent + line)).join("\n");
}

/** The form of JSON output: an indented document or one line. */
export type JsonForm = "document" | "line";

/** Prints the JSON document of `--json`, or one of several lines of JSON. */
export async function printJson(
  value: unknown,
  { screen }: { screen: Screen },
  form: JsonForm = "document",
): Promise<void> {
  const json = printableJson(value, form === "line" ? 0 : 2);
  await screen.print(`${json}\n`);
}

/** Prints text and ends its last line. */
export async function printText(text: string, { screen }: { screen: Screen }): Promise<void> {
  if (text !== "") await screen.print(text.endsWith("\n") ? text : `${text}\n`);
}
