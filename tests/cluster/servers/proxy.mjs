// @ts-check
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** A proxy between a client and a server on loopback that can break connections. */
export class Proxy {
  /** @type {import("node:net").Server} */
  #server;
  /** @type {Map<import("node:net").Socket, import("node:net").Socket>} */
  #pairs = new Map();
  #isMute = false;
  #delay = 0;
  /** @type {WeakMap<import("node:net").Socket, Promise<void>>} */
  #held = new WeakMap();

  /** @param {number} port of the server */
  constructor(port) {
    this.#server = createServer((near) => this.#pair(near, port));
  }

  port = 0;

  async start() {
    await this.open();
    this.port = /** @type {import("node:net").AddressInfo} */ (this.#server.address()).port;
    return this;
  }

  /** Breaks every connection; new ones are taken. */
  cut() {
    for (const [near, far] of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Breaks every connection, and refuses new ones until `open`. */
  shut() {
    if (this.#server.listening) this.#server.close();
    this.cut();
  }

  async open() {
    if (this.#server.listening) return;
    this.#server.listen(this.port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Cuts the connection on which the server answers next, before the answer gets through. */
  loseReply() {
    this.#isMute = true;
  }

  /** Whether the reply to drop has been dropped. */
  get hasLost() {
    return !this.#isMute;
  }

  /** Delays each chunk of the server by some milliseconds. @param {number} ms */
  slow(ms) {
    this.#delay = ms;
  }

  async close() {
    this.cut();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }

  /** @param {import("node:net").Socket} near @param {number} port */
  #pair(near, port) {
    const far = connect(port, "127.0.0.1");
    this.#pairs.set(near, far);
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => this.#pass(chunk, near, far));
    for (const [socket, other] of /** @type {const} */ ([
      [near, far],
      [far, near],
    ])) {
      socket.on("error", () => {});
      socket.on("close", () => {
        other.destroy();
        this.#pairs.delete(near);
      });
    }
  }

  /** @param {Buffer} chunk @param {import("node:net").Socket} near @param {import("node:net").Socket} far */
  #pass(chunk, near, far) {
    if (this.#isMute) {
      this.#isMute = false;
      near.destroy();
      far.destroy();
    } else if (this.#delay === 0 && !this.#held.has(near)) near.write(chunk);
    else this.#hold(chunk, near);
  }

  /** The order of chunks is kept if the delay changes. @param {Buffer} chunk @param {import("node:net").Socket} near */
  #hold(chunk, near) {
    const due = Date.now() + this.#delay;
    const held = (this.#held.get(near) ?? Promise.resolve()).then(async () => {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
      if (near.writable) near.write(chunk);
      if (this.#held.get(near) === held) this.#held.delete(near);
    });
    this.#held.set(near, held);
  }
}
