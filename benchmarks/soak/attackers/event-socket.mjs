// @ts-check
import { verdictOf } from "./verdict.mjs";

/** @import { Socket } from "node:net" */

/** Characters of a response that are kept. An acknowledgment repeats a filter of 64 KiB; its beginning is enough. */
const kept = 8_000;

/** A connection that carries one event stream. */
export class EventSocket {
  /** Resolves when the response has begun, with "opened" or with the verdict of a refusal. @type {Promise<string>} */
  first;
  isOpen = false;
  #socket;
  #text = "";
  #end = "";

  /** @param {Socket} socket @param {Buffer | string} request */
  constructor(socket, request) {
    this.#socket = socket;
    this.first = new Promise((resolve) => {
      socket.on("data", (/** @type {Buffer} */ chunk) => this.#take(chunk, resolve));
      socket.once("close", () => {
        this.isOpen = false;
        resolve("closed");
      });
    });
    socket.write(request);
  }

  destroy() {
    this.#socket.destroy();
  }

  /** @param {Buffer} chunk @param {(verdict: string) => void} begin */
  #take(chunk, begin) {
    this.#end = (this.#end + chunk.toString("latin1", Math.max(0, chunk.length - 7))).slice(-7);
    if (!this.isOpen && this.#text.length < kept) {
      this.#text += chunk.toString("latin1");
      if (/^HTTP\/1\.1 200 [^]*text\/event-stream/.test(this.#text)) {
        this.isOpen = true;
        this.#text = "";
        begin("opened");
      } else if (this.#text.includes('"error"')) {
        begin(verdictOf({ status: Number(this.#text.slice(9, 12)), body: Buffer.from(this.#text) }));
      }
    }
    // The server ended the stream. The connection stays open.
    if (this.#end === "\r\n0\r\n\r\n") this.isOpen = false;
  }
}
