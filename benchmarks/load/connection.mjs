// @ts-check
import { connect } from "node:net";
import { AnswerReader } from "./answer-reader.mjs";

/** @import { Answer } from "./answer-reader.mjs" */

/**
 * One connection that is kept alive, with one request at a time. If the server closes it between requests, the next request opens another.
 */
export class Connection {
  #port;
  #localAddress;
  #socket;
  #reader = new AnswerReader();
  /** @type {{ resolve: (answer: Answer) => void, reject: (error: Error) => void } | undefined} */
  #waiting;

  /** @param {number} port @param {string} [localAddress] The address to connect from. */
  constructor(port, localAddress) {
    this.#port = port;
    this.#localAddress = localAddress;
    this.#socket = this.#open();
  }

  #open() {
    const from = this.#localAddress === undefined ? {} : { localAddress: this.#localAddress };
    const socket = connect({ port: this.#port, host: "127.0.0.1", ...from }).setNoDelay(true);
    socket.on("data", (arrived) => this.#take(arrived));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("The server closed the connection.")));
    return socket;
  }

  /** @param {Buffer | string} bytes */
  #send(bytes) {
    if (this.#socket.destroyed) this.#socket = this.#open();
    this.#socket.write(bytes);
  }

  /** Sends a request, and resolves with its answer. @param {Buffer | string} bytes @returns {Promise<Answer>} */
  ask(bytes) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#send(bytes);
    });
  }

  /**
   * Passes the following answers to a function instead of promises. Returns the function that sends the next request.
   *
   * @param {(answer: Answer) => void} onAnswer @param {(error: Error) => void} onError
   */
  drive(onAnswer, onError) {
    this.#waiting = { resolve: onAnswer, reject: onError };
    this.#isDriven = true;
    return (/** @type {Buffer} */ bytes) => this.#send(bytes);
  }

  close() {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #isDriven = false;

  /** @param {Buffer} arrived */
  #take(arrived) {
    try {
      const answer = this.#reader.push(arrived);
      if (!answer) return;
      const waiting = this.#waiting;
      if (!waiting) throw new Error("An answer arrived without a request.");
      if (!this.#isDriven) this.#waiting = undefined;
      waiting.resolve(answer);
    } catch (error) {
      this.#fail(/** @type {Error} */ (error));
      this.#socket.destroy();
    }
  }

  /** @param {Error} error */
  #fail(error) {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}
