import { PassThrough, Writable } from "node:stream";
import xterm from "@xterm/headless";
import { fakeIo } from "../../commands/testing/fake-io.ts";
import type { CommandIo } from "../io.ts";

/** An emulated terminal, with the streams of a command that runs in it. */
export type EmulatedTerminal = ReturnType<typeof emulatedTerminal>;

interface EmulatorOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
  /** Default: calls at once, so that a question takes keys as soon as it is written. */
  readonly schedule?: CommandIo["schedule"];
}

/** Names of keys and their sequences. */
export const keys = {
  up: "\u001b[A",
  down: "\u001b[B",
  left: "\u001b[D",
  right: "\u001b[C",
  home: "\u001b[H",
  tab: "\t",
  enter: "\r",
  altEnter: "\u001b\r",
  backspace: "\u007f",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
} as const;

/** Returns a terminal of 40 columns and 12 rows, unless another size is given. */
export function emulatedTerminal(options: EmulatorOptions = {}) {
  const { columns = 40, rows = 12, env = {}, schedule } = options;
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const chunks: string[] = [];
  const waiting: (() => void)[] = [];
  const stdin = new PassThrough();
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      // A real terminal converts line feeds.
      emulator.write(chunk.toString().replaceAll("\n", "\r\n"));
      done();
      for (const resolve of waiting.splice(0)) resolve();
    },
  });
  Object.assign(stdout, { columns, rows });
  /** Resolves when the emulator has processed what was written. */
  const flush = (): Promise<void> => new Promise((resolve) => emulator.write("", resolve));
  const linesFrom = async (first: () => number): Promise<string[]> => {
    await flush();
    const { active } = emulator.buffer;
    const rows = Array.from({ length: active.baseY + emulator.rows - first() }, (_, row) => first() + row);
    const lines = rows.map((row) => (active.getLine(row)?.translateToString(true) ?? "").trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return lines;
  };
  const io: CommandIo = {
    ...fakeIo({ terminal: true, env: { HOME: "/no/such/home", ...env }, ...(schedule && { after: schedule }) }),
    stdin,
    stdout,
    columns: () => emulator.cols,
  };
  return {
    io,
    /** Returns all bytes that were written. */
    raw: () => chunks.join(""),
    /** Returns the visible lines without the spaces at their ends, and without empty lines at the end. */
    lines: () => linesFrom(() => emulator.buffer.active.baseY),
    /** Returns the lines like `lines`, with those that have scrolled out of view. */
    allLines: () => linesFrom(() => 0),
    /** Resolves when a condition of all lines holds. It is checked after each write. */
    async waitUntil(isMet: (lines: readonly string[]) => boolean): Promise<void> {
      for (;;) {
        const nextWrite = new Promise<void>((resolve) => void waiting.push(resolve));
        if (isMet(await linesFrom(() => 0))) return;
        await nextWrite;
      }
    },
    /** Returns the position of the cursor on the screen. */
    async cursor(): Promise<{ row: number; column: number }> {
      await flush();
      const { cursorX, cursorY } = emulator.buffer.active;
      return { row: cursorY, column: cursorX };
    },
    /** Sends keys in one chunk. */
    press: (text: string) => void stdin.write(text),
    async resize(newColumns: number, newRows: number): Promise<void> {
      await flush();
      emulator.resize(newColumns, newRows);
      Object.assign(stdout, { columns: newColumns, rows: newRows });
      stdout.emit("resize");
    },
  };
}
