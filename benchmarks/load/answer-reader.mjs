// @ts-check
import { ChunkedBody } from "./chunked-body.mjs";

/** A whole answer. @typedef {{ status: number, head: string, body: Buffer }} Answer */

const nothing = Buffer.alloc(0);

/**
 * Reads the answers on one connection, each to a request that was sent after the answer before.
 *
 * It supports the part of HTTP/1.1 that a benchmark needs: an answer has a length, is chunked, or has no body. Its work is linear in what arrives. Throws if an answer is invalid, or if there are more answers than requests.
 */
export class AnswerReader {
  /** The received parts of an incomplete head, or of a body of known length. @type {Buffer[]} */
  #parts = [];
  #size = 0;
  /** @type {{ status: number, head: string } | undefined} */
  #begun;
  /** The length of the current body in bytes, if its head contains one. */
  #length = 0;
  /** @type {ChunkedBody | undefined} */
  #chunks;

  /** Reads received bytes. Returns the answer when it is complete. @param {Buffer} arrived @returns {Answer | undefined} */
  push(arrived) {
    if (this.#begun) return this.#more(arrived, 0);
    const whole = this.#parts.length === 0 ? arrived : Buffer.concat([...this.#parts, arrived]);
    const end = whole.indexOf("\r\n\r\n");
    if (end === -1) {
      this.#parts = [whole];
      return undefined;
    }
    this.#parts = [];
    this.#begin(whole.toString("latin1", 0, end));
    return this.#more(whole, end + 4);
  }

  /** @param {string} head */
  #begin(head) {
    const status = Number(head.slice(9, 12));
    if (!head.startsWith("HTTP/1.1 ") || !(status >= 200))
      throw new Error(`An answer cannot start with "${head.slice(0, 60)}".`);
    this.#begun = { status, head };
    const lower = head.toLowerCase();
    this.#chunks = lower.includes("\r\ntransfer-encoding: chunked") ? new ChunkedBody() : undefined;
    const at = lower.indexOf("\r\ncontent-length: ");
    this.#length = at === -1 ? 0 : Number.parseInt(lower.slice(at + 18), 10);
    if (at === -1 && !this.#chunks && status !== 204 && status !== 202)
      throw new Error(`An answer of status ${status} has no length and is not chunked.`);
  }

  /** @param {Buffer} arrived @param {number} at @returns {Answer | undefined} */
  #more(arrived, at) {
    if (this.#chunks) {
      const end = this.#chunks.push(arrived, at);
      return end === -1 ? undefined : this.#finish(this.#chunks.body(), arrived.length - end);
    }
    const here = arrived.length - at;
    if (this.#size === 0 && here >= this.#length) {
      return this.#finish(arrived.subarray(at, at + this.#length), here - this.#length);
    }
    this.#parts.push(arrived.subarray(at));
    this.#size += here;
    if (this.#size < this.#length) return undefined;
    return this.#finish(Buffer.concat(this.#parts, this.#length), this.#size - this.#length);
  }

  /** @param {Buffer} body @param {number} surplus @returns {Answer} */
  #finish(body, surplus) {
    if (surplus > 0) throw new Error("There are more answers than requests.");
    const { status, head } = /** @type {{ status: number, head: string }} */ (this.#begun);
    this.#begun = undefined;
    this.#chunks = undefined;
    this.#parts = [];
    this.#size = 0;
    return { status, head, body: body.length === 0 ? nothing : body };
  }
}
