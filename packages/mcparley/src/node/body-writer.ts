import type { Socket } from "node:net";
import type { Bytes } from "../rpc/base64.ts";
import { endOfSlice } from "../rpc/encode-large.ts";
import type { NodeResponse } from "./node-exchange.ts";

/** The number of characters or bytes that are written at a time. Node copies them until the operating system accepts them. */
export const SLICE = 262_144;

/** The writers whose bodies are not written to the end, by their sockets. */
const openWriters = new WeakMap<object, BodyWriter>();

/**
 * Closes a socket when its output has been sent, with the whole body of a response that is being written.
 */
export function destroyWhenSent(socket: Socket): void {
  const writer = openWriters.get(socket);
  if (writer) writer.whenWritten(() => socket.destroySoon());
  else socket.destroySoon();
}

/**
 * Writes the body of a response. Long text is written in slices, each when the client has read those before. The memory for
 * its bytes does not depend on its length.
 */
export class BodyWriter {
  readonly #response: NodeResponse;
  readonly #socket: object;
  readonly #flushes: boolean;
  /** Text and bytes that are not written. Only a part of the first may be left. */
  readonly #waiting: (string | Bytes)[] = [];
  #isPaused = false;
  /** Number of writes that the operating system has accepted. */
  acceptedWrites = 0;
  readonly #onAccepted = (): void => void this.acceptedWrites++;
  #isStarted = false;
  readonly #listeners: (() => void)[] = [];

  /** `flushes`: whether middleware that compresses has to send each slice at once. */
  constructor(response: NodeResponse, { socket, flushes }: { socket: object; flushes: boolean }) {
    this.#response = response;
    this.#socket = socket;
    this.#flushes = flushes;
  }

  /** The characters or bytes that wait behind the text that is being written. */
  get backlog(): number {
    const parts = this.#waiting.slice(1);
    return parts.reduce((sum, { length }) => sum + length, this.#response.writableLength);
  }

  /** The characters or bytes that are not written, and those that Node has not written to the operating system. */
  get unread(): number {
    return this.backlog + (this.#waiting[0]?.length ?? 0);
  }

  /** Adds text or bytes to the body. */
  write(part: string | Bytes): void {
    if (this.#waiting.length === 0 && part.length <= SLICE) {
      this.#send(part);
      return;
    }
    this.#waiting.push(part);
    this.#start();
    this.#continue();
  }

  /** Calls a listener when everything is written, or cannot be written because the connection is closed. */
  whenWritten(listener: () => void): void {
    if (this.#waiting.length === 0) listener();
    else this.#listeners.push(listener);
  }

  #start(): void {
    openWriters.set(this.#socket, this);
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#response.on("drain", () => {
      this.#isPaused = false;
      this.#continue();
    });
    this.#response.on("close", () => {
      this.#waiting.length = 0;
      this.#finish();
    });
  }

  #continue(): void {
    while (this.#waiting.length > 0 && !this.#isPaused) this.#isPaused = this.#send(this.#takeSlice()) === false;
    if (this.#waiting.length === 0) this.#finish();
  }

  #takeSlice(): string | Bytes {
    const [part = ""] = this.#waiting;
    if (part.length <= SLICE) {
      this.#waiting.shift();
      return part;
    }
    if (typeof part !== "string") {
      this.#waiting[0] = part.subarray(SLICE);
      return part.subarray(0, SLICE);
    }
    const end = endOfSlice(part, SLICE);
    this.#waiting[0] = part.slice(end);
    return part.slice(0, end);
  }

  /** Returns false if the client has not read what was written before. Middleware that replaces `write` may return nothing. */
  #send(part: string | Bytes): boolean | undefined {
    const accepts =
      typeof part === "string"
        ? this.#response.write(part, encodingOf(part), this.#onAccepted)
        : this.#response.write(part, this.#onAccepted);
    // Middleware that compresses in spite of `no-transform` has this method.
    if (this.#flushes) this.#response.flush?.();
    return accepts;
  }

  #finish(): void {
    openWriters.delete(this.#socket);
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** ASCII is written as latin1. This is faster than UTF-8, and Node allocates a third of the memory. */
function encodingOf(text: string): "latin1" | "utf8" {
  return Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
}
