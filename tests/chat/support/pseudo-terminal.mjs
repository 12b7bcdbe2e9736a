// @ts-check
import { constants } from "node:os";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { useCurrentWidths } from "./character-widths.mjs";
import { bytesOfKey, bytesOfPaste } from "./keys.mjs";
import { descendantsOf, endProcesses, sendSignal } from "./process-tree.mjs";

/** @import { Key } from "./keys.mjs" */

/**
 * The aim of a wait: a text or a pattern on the visible screen, or a condition.
 *
 * @typedef {string | RegExp | ((terminal: PseudoTerminal) => boolean)} Wanted
 */

/**
 * @typedef {object} PseudoTerminalOptions
 * @property {readonly [string, ...string[]]} command the program and its arguments
 * @property {Readonly<Record<string, string | undefined>>} env the whole environment of the program
 * @property {string} cwd
 * @property {number} [columns] default: 80
 * @property {number} [rows] default: 24
 * @property {number} [scrollback] lines that are kept above the screen; default: 10,000
 * @property {number} [rawLimit] the last characters of the output that `raw` returns at least; default: all
 */

/** Milliseconds that a program has to end after its terminal is closed. */
const lastWords = 5_000;
/** Milliseconds between two typed characters if the program prints nothing. A fast person needs twice as long. */
const keystroke = 25;

/**
 * A program in a pseudo-terminal, and an emulator that shows its output.
 *
 * The emulator answers the requests of the program, such as that for the position of the cursor.
 */
export class PseudoTerminal {
  /** The emulator, which also has the colours of each cell. */
  emulator;
  /** The id of the program's process, which leads a process group and a session. */
  pid;
  /**
   * Settles when the program has ended and all of its output is parsed. A program that a signal ended has no code.
   *
   * @type {Promise<{ readonly code: number | undefined, readonly signal: string | undefined }>}
   */
  exit;
  #pty;
  #raw = "";
  #hasEnded = false;
  /** Called after each part of the output, and at the end of the program. @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {Promise<void> | undefined} */
  #closing;

  /** @param {PseudoTerminalOptions} options */
  constructor({ command, env, cwd, columns = 80, rows = 24, scrollback = 10_000, rawLimit = Infinity }) {
    const [file, ...args] = command;
    const size = { cols: columns, rows };
    this.emulator = new xterm.Terminal({ ...size, scrollback, allowProposedApi: true });
    useCurrentWidths(this.emulator);
    this.#pty = spawn(file, args, { ...size, name: env["TERM"] ?? "xterm-256color", cwd, env: { ...env } });
    this.pid = this.#pty.pid;
    this.emulator.onData((reply) => void (this.#hasEnded || this.#pty.write(reply)));
    this.#pty.onData((output) => {
      this.#raw += output;
      if (this.#raw.length > rawLimit * 2) this.#raw = this.#raw.slice(-rawLimit);
      this.emulator.write(output, () => this.#tell());
    });
    this.exit = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        this.emulator.write("", () => {
          this.#hasEnded = true;
          resolve(signal ? { code: undefined, signal: nameOf(signal) } : { code: exitCode, signal: undefined });
          this.#tell();
        });
      });
    });
  }

  /** Sends bytes to the program, as one read of it if it is waiting. @param {string} bytes */
  press(bytes) {
    if (this.#hasEnded) throw new Error(`The program has ended, and cannot read keys.\n${this.#picture()}`);
    this.#pty.write(bytes);
  }

  /** Sends a key. @param {Key} key */
  key(key) {
    this.press(bytesOfKey(key, { isApplication: this.emulator.modes.applicationCursorKeysMode }));
  }

  /** Sends each character by itself, so that the program does not mistake it for pasted text. @param {string} text */
  async type(text) {
    for (const character of text) {
      this.press(character);
      await this.#outputOrPause(keystroke);
    }
  }

  /** Pastes text as xterm does, with the markers of bracketed paste if the program has enabled them. @param {string} text */
  paste(text) {
    this.press(bytesOfPaste(text, { isBracketed: this.emulator.modes.bracketedPasteMode }));
  }

  /** @param {number} columns @param {number} rows */
  resize(columns, rows) {
    this.emulator.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** Returns the visible lines without the spaces at their ends and without the empty lines below the last one. */
  screen() {
    return this.#lines(this.emulator.buffer.active.baseY);
  }

  /** Returns the lines that have left the screen, and the visible ones. */
  history() {
    return this.#lines(0);
  }

  /** Returns the position of the cursor on the screen, from 0, and the text of its line. */
  cursor() {
    const { active } = this.emulator.buffer;
    const line = active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "";
    return { column: active.cursorX, row: active.cursorY, line };
  }

  /** Returns whether the program shows the cursor. */
  isCursorVisible() {
    return this.#raw.lastIndexOf("\u001b[?25l") <= this.#raw.lastIndexOf("\u001b[?25h");
  }

  /** Returns all output of the program, with its control sequences. */
  raw() {
    return this.#raw;
  }

  /** Returns the ids of the processes that the program has started and that run. Empty if the program has ended. */
  processes() {
    return this.#hasEnded ? [] : descendantsOf(this.pid);
  }

  /**
   * Waits until the screen has a text, matches a pattern, or a condition is true. Returns the screen.
   *
   * Rejects with the screen after `timeout` milliseconds (default: 30,000), or if the program ends before.
   *
   * @param {Wanted} wanted @param {{ timeout?: number }} [options]
   */
  waitFor(wanted, { timeout = 120_000 } = {}) {
    return this.#until(() => this.#has(wanted), `${describe(wanted)} did not appear`, timeout);
  }

  /** Waits until `waitFor` would wait. @param {Wanted} wanted @param {{ timeout?: number }} [options] */
  waitForGone(wanted, { timeout = 120_000 } = {}) {
    return this.#until(() => !this.#has(wanted), `${describe(wanted)} did not disappear`, timeout);
  }

  /**
   * Waits until the program shows the cursor, in a line that ends with a text or matches a pattern. The spaces at the end of
   * the line do not count. The command hides the cursor while a question takes no keys. Returns the screen.
   *
   * @param {string | RegExp} [line] @param {{ timeout?: number }} [options]
   */
  waitForCursor(line = "", { timeout = 120_000 } = {}) {
    const hasCursor = () => {
      const text = this.cursor().line.trimEnd();
      return this.isCursorVisible() && (typeof line === "string" ? text.endsWith(line) : line.test(text));
    };
    return this.#until(hasCursor, `${describe(line)} did not appear at a visible cursor`, timeout);
  }

  /** Closes the terminal as the end of its window does. The program receives SIGHUP, and cannot write any more. */
  hangUp() {
    // The types of the package do not have this method of its class.
    /** @type {{ destroy(): void }} */ (/** @type {unknown} */ (this.#pty)).destroy();
  }

  /** Closes the terminal, and waits for the end of the program and of its `processes`. */
  close() {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    const others = this.processes();
    if (!this.#hasEnded) {
      const timer = setTimeout(() => sendSignal(-this.pid, "SIGKILL"), lastWords);
      sendSignal(-this.pid, "SIGHUP");
      await this.exit;
      clearTimeout(timer);
    }
    await endProcesses(others);
    this.emulator.dispose();
  }

  /** @param {Wanted} wanted */
  #has(wanted) {
    if (typeof wanted === "function") return wanted(this);
    const screen = this.screen();
    return typeof wanted === "string" ? screen.includes(wanted) : screen.search(wanted) !== -1;
  }

  /** @param {() => boolean} isDone @param {string} failure @param {number} timeout @returns {Promise<string>} */
  #until(isDone, failure, timeout) {
    return new Promise((resolve, reject) => {
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const end = (/** @type {() => void} */ settle) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        settle();
      };
      const fail = (/** @type {string} */ why) => reject(new Error(`${failure} ${why}.\n${this.#picture()}`));
      const look = () => {
        try {
          // A terminal does not show the parts of a synchronized update before its end.
          if (this.emulator.modes.synchronizedOutputMode && !this.#hasEnded) return;
          if (isDone()) end(() => resolve(this.screen()));
          else if (this.#hasEnded) end(() => fail("before the program ended"));
        } catch (error) {
          end(() => reject(error));
        }
      };
      timer = setTimeout(() => end(() => fail(`within ${timeout / 1_000} s`)), timeout);
      this.#listeners.add(look);
      look();
    });
  }

  /** @param {number} milliseconds @returns {Promise<void>} */
  #outputOrPause(milliseconds) {
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#listeners.delete(go);
        resolve();
      };
      const timer = setTimeout(go, milliseconds);
      this.#listeners.add(go);
    });
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }

  /** @param {number} first */
  #lines(first) {
    const { active } = this.emulator.buffer;
    const count = active.baseY + this.emulator.rows - first;
    const lines = Array.from({ length: count }, (_, index) => active.getLine(first + index)?.translateToString(true));
    return lines
      .map((line = "") => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  #picture() {
    const { cols, rows } = this.emulator;
    const { column, row } = this.cursor();
    const lines = this.screen()
      .split("\n")
      .map((line) => `│${line}`);
    const state = this.#hasEnded ? "The program has ended. " : "";
    return [
      `${state}The screen of ${cols} × ${rows}, with the cursor at line ${row + 1}, column ${column + 1}:`,
      ...lines,
    ].join("\n");
  }
}

/** @param {Wanted} wanted */
function describe(wanted) {
  if (typeof wanted === "function") return `The condition ${String(wanted)}`;
  return typeof wanted === "string" ? `The text ${JSON.stringify(wanted)}` : `A text that matches ${String(wanted)}`;
}

/** @param {number} signal */
function nameOf(signal) {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? String(signal);
}
