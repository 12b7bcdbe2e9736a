// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { onCore } from "./cores.mjs";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Side } from "./cores.mjs" */

const probe = new URL("probe.mjs", import.meta.url).href;
const patience = 30_000;
const lastWords = 2_000;

/**
 * @typedef {object} ProgramOptions
 * @property {Side} side
 * @property {string} file
 * @property {readonly string[]} args
 * @property {string | undefined} [node] the Node or other runtime that runs it; default: this one
 * @property {boolean} [isProbed] whether its resource usage can be requested
 * @property {"pipe" | "ignore"} [input]
 */

/** A program of a benchmark: a server, or the load, on the core of its side. */
export class Program {
  /** @type {ChildProcess} */
  child;
  #name;
  #complaints = "";
  /** @type {Promise<unknown>} */
  #exited;
  /** Messages that were received and not read yet. @type {unknown[]} */
  #said = [];
  /** @type {((message: unknown) => void) | undefined} */
  #listener;

  /** @param {ProgramOptions} options */
  constructor({ side, file, args, node = process.execPath, isProbed = false, input = "ignore" }) {
    this.#name = file;
    const flags = isProbed ? ["--expose-gc", "--import", probe] : [];
    const [command = node, ...rest] = onCore(side, [node, ...flags, file, ...args]);
    this.child = spawn(command, rest, { stdio: [input, "pipe", "pipe", "ipc"], env: quietly(process.env) });
    this.child.stderr
      ?.setEncoding("utf8")
      .on("data", (text) => (this.#complaints = (this.#complaints + text).slice(-2_000)));
    this.child.on("message", (message) => this.#take(message));
    this.#exited = once(this.child, "exit");
    this.#exited.catch(() => {});
  }

  /** The first line that it writes. @returns {Promise<string>} */
  firstLine() {
    return this.#wait("its first line", (resolve) => {
      let written = "";
      this.child.stdout?.setEncoding("utf8").on("data", (text) => {
        written += text;
        const end = written.indexOf("\n");
        if (end !== -1) resolve(written.slice(0, end));
      });
    });
  }

  /** The next message that it sends. @returns {Promise<any>} */
  async message(limit = 30_000) {
    if (this.#said.length > 0) return this.#said.shift();
    return this.#wait("a message", (resolve) => (this.#listener = resolve), limit);
  }

  /** @param {unknown} message */
  #take(message) {
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener) listener(message);
    else this.#said.push(message);
  }

  /** Asks the probe inside, or the program itself. @param {"cpu" | "heap" | "resources" | "operations" | "requests"} question @returns {Promise<any>} */
  async ask(question) {
    this.child.send(question);
    const { answer } = await this.message();
    return answer;
  }

  /** @param {unknown} message */
  tell(message) {
    this.child.send(/** @type {object} */ (message));
  }

  /** Requests the end of the process. Kills it if it does not exit in time. */
  async finish() {
    if (this.child.connected) this.child.send("end");
    const waiting = new AbortController();
    await Promise.race([this.#exited, pause(lastWords, undefined, { signal: waiting.signal }).catch(() => {})]);
    waiting.abort();
    await this.end();
  }

  /** Kills the process. */
  async end() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGKILL");
    await this.#exited.catch(() => {});
  }

  /**
   * Waits for an event of the program. Rejects if the program ends first, or at the timeout.
   *
   * @template T
   * @param {string} what @param {(resolve: (value: T) => void) => void} begin @param {number} limit
   * @returns {Promise<T>}
   */
  async #wait(what, begin, limit = patience) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(this.#failure(`said nothing for ${limit / 1000} s: ${what} was awaited`)), limit);
    });
    const gone = this.#exited.then(() => {
      const { exitCode, signalCode } = this.child;
      throw this.#failure(`ended with ${signalCode ?? exitCode}`);
    });
    try {
      return /** @type {T} */ (await Promise.race([new Promise(begin), late, gone]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} what */
  #failure(what) {
    const complaints = this.#complaints.trim();
    return new Error(`${this.#name} ${what}${complaints === "" ? "" : `\n${complaints}`}`);
  }
}

/** Programs see no development mode, in which some of the compared print or check more. @param {NodeJS.ProcessEnv} env */
function quietly(env) {
  const { NODE_OPTIONS: _, ...rest } = env;
  return { ...rest, NODE_ENV: "production" };
}
