// @ts-check
import { checkAnswer } from "./check-answer.mjs";
import { LineReader } from "./line-reader.mjs";
import { initializeMessage } from "./open-session.mjs";
import { Numbered, firstId, messageOf, modernRevision } from "./request-bytes.mjs";

/** @import { ChildProcess } from "node:child_process" */
/** @import { StdioJob } from "../types.ts" */

/** A client on the stdin and stdout of a server. */
export class StdioClient {
  #child;
  #job;
  #reader = new LineReader();
  #nextId = firstId;
  /** @type {Numbered | undefined} */
  #request;
  /** @type {Numbered | undefined} */
  #expected;
  /** The ids whose answers are awaited. @type {Set<number>} */
  #awaited = new Set();
  /** @type {{ onLine: (line: Buffer) => void, reject: (error: Error) => void } | undefined} */
  #waiting;

  /** @param {ChildProcess} child @param {StdioJob} job */
  constructor(child, job) {
    this.#child = child;
    this.#job = job;
    child.stdout?.on("data", (arrived) => this.#take(arrived));
    child.stdin?.on("error", (error) => this.#waiting?.reject(error));
    child.on("exit", () => this.#waiting?.reject(new Error("The server ended.")));
  }

  /** Opens the connection as the revision requires, and checks the content of one answer. */
  async open() {
    const { operation, revision } = this.#job;
    if (revision !== modernRevision) {
      await this.#askOnce(initializeMessage(revision));
      this.#child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    }
    const line = await this.#askOnce(messageOf(operation, revision));
    checkAnswer(line.toString("utf8"), firstId, operation.expected);
    this.#expected = new Numbered(Buffer.from(line));
    this.#request = new Numbered(Buffer.from(`${messageOf(operation, revision)}\n`));
  }

  /** Sends `count` requests in one write, and waits until each is answered like the first. @param {number} count @returns {Promise<void>} */
  askMany(count) {
    const request = /** @type {Numbered} */ (this.#request);
    // A single request is written without a copy: the server has read it before the buffer changes, because its answer has arrived.
    const all = count === 1 ? request.bytes : Buffer.allocUnsafe(request.bytes.length * count);
    for (let index = 0; index < count; index++) {
      const id = ++this.#nextId;
      this.#awaited.add(id);
      request.become(id);
      if (count > 1) all.set(request.bytes, index * request.bytes.length);
    }
    return new Promise((resolve, reject) => {
      const onLine = (/** @type {Buffer} */ line) => {
        this.#check(line);
        if (this.#awaited.size === 0) resolve();
      };
      this.#waiting = { onLine, reject };
      this.#child.stdin?.write(all);
    });
  }

  /** @param {string} message @returns {Promise<Buffer>} */
  #askOnce(message) {
    return new Promise((resolve, reject) => {
      this.#waiting = { onLine: resolve, reject };
      this.#child.stdin?.write(`${message}\n`);
    });
  }

  /** @param {Buffer} arrived */
  #take(arrived) {
    try {
      this.#reader.push(arrived, (line) => this.#waiting?.onLine(line));
    } catch (error) {
      this.#waiting?.reject(/** @type {Error} */ (error));
    }
  }

  /** Answers may come in any order, each once. @param {Buffer} line */
  #check(line) {
    const expected = /** @type {Numbered} */ (this.#expected);
    const id = expected.idIn(line);
    if (!this.#awaited.delete(id)) throw new Error(`No request awaits this message: ${line.toString("utf8", 0, 300)}`);
    expected.become(id);
    if (!expected.bytes.equals(line))
      throw new Error(`The answer differs from the first one: ${line.toString("utf8", 0, 300)}`);
  }
}
