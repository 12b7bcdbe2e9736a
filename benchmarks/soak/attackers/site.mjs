// @ts-check
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Connection } from "../../load/connection.mjs";
import { initialize, initialized, inSession } from "./requests.mjs";
import { verdictOf } from "./verdict.mjs";

/** @import { Answer } from "../../load/answer-reader.mjs" */

/**
 * One kind of attack. It runs again and again until the attack ends.
 *
 * @typedef {object} Attacker
 * @property {string} name
 * @property {readonly string[]} reaches The limits whose refusals the server must have sent.
 * @property {readonly string[]} [allows] Other correct answers. Any other answer is a surprise.
 * @property {number} pause Milliseconds between two waves.
 * @property {(site: Site) => () => Promise<void>} prepare Returns the function that runs one wave.
 */

/** Ids of sessions that a site remembers: the newest ones, because the server has ended the others. */
const remembered = 300;
/** Milliseconds within which a request must have an answer. */
const longest = 30_000;

/** The client address of one attacker, with the counts of its answers. */
export class Site {
  /** Answers by verdict. @type {Record<string, number>} */
  counts = {};
  waves = 0;
  /** Ids of the newest sessions. @type {string[]} */
  sessions = [];
  /** Answers that are wrong. @type {Record<string, number>} */
  surprises = {};
  /** The highest number of sessions or streams that were open at a time. @type {Record<string, number>} */
  peaks = {};
  #port;
  #address;
  #expected;
  #signal;

  /** @param {{ port: number, address: string, attacker: Attacker, signal: AbortSignal }} init */
  constructor({ port, address, attacker, signal }) {
    this.#port = port;
    this.#address = address;
    this.#expected = new Set(["ok", ...attacker.reaches, ...(attacker.allows ?? [])]);
    this.#signal = signal;
  }

  /** Whether the attack must end. */
  get isOver() {
    return this.#signal.aborted;
  }

  /** @param {string} verdict @param {number} [count] */
  note(verdict, count = 1) {
    this.counts[verdict] = (this.counts[verdict] ?? 0) + count;
    if (!this.#expected.has(verdict)) this.surprise(`answered with ${verdict}`);
  }

  /** @param {"sessions" | "streams"} what @param {number} count */
  peak(what, count) {
    this.peaks[what] = Math.max(this.peaks[what] ?? 0, count);
  }

  /** @param {string} text */
  surprise(text) {
    const short = text.slice(0, 200);
    this.surprises[short] = (this.surprises[short] ?? 0) + 1;
  }

  /** Waits, unless the attack ends before. @param {number} milliseconds */
  async pause(milliseconds) {
    await pause(milliseconds, undefined, { signal: this.#signal }).catch(() => {});
  }

  /** Opens a kept-alive connection. */
  connection() {
    return new Connection(this.#port, this.#address);
  }

  /** Opens a socket that ignores errors. The caller destroys it. */
  dial() {
    return connect({ port: this.#port, host: "127.0.0.1", localAddress: this.#address }).on("error", () => {});
  }

  /** Sends a request on a connection. Returns its answer, and "closed" if the server closed the connection. @param {Connection} connection @param {Buffer} bytes */
  async send(connection, bytes) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, longest, "no answer");
    });
    try {
      const answer = /** @type {Answer | "no answer"} */ (await Promise.race([connection.ask(bytes), late]));
      if (answer === "no answer") return { verdict: answer };
      const session = /\r\nmcp-session-id: ([^\r]+)/i.exec(answer.head)?.[1];
      if (session !== undefined) this.#remember(session);
      return { verdict: verdictOf(answer), answer, session };
    } catch {
      return { verdict: "closed" };
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} session */
  #remember(session) {
    this.sessions.push(session);
    if (this.sessions.length > remembered) this.sessions.shift();
  }

  /** Sends a request, counts its answer and returns the verdict. @param {Connection} connection @param {Buffer} bytes */
  async ask(connection, bytes) {
    const { verdict } = await this.send(connection, bytes);
    this.note(verdict);
    return verdict;
  }

  /**
   * Sends requests on a number of connections at once, one at a time on each.
   *
   * @param {number} connections @param {number} count @param {(index: number) => Buffer} request
   */
  async flood(connections, count, request) {
    let next = 0;
    const work = async () => {
      const connection = this.connection();
      while (next < count && !this.isOver) await this.ask(connection, request(next++));
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, work));
  }

  /**
   * Opens a session and returns its id; undefined if it was refused.
   *
   * @param {Connection} connection @param {{ request?: Buffer, isInitialized?: boolean }} [options]
   */
  async open(connection, { request = initialize(), isInitialized = true } = {}) {
    const { verdict, session: id } = await this.send(connection, request);
    this.note(verdict);
    if (id !== undefined && isInitialized) await this.ask(connection, inSession(id, initialized));
    return id;
  }
}
