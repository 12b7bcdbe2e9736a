// @ts-check
import { connect } from "node:net";
import { pageUri } from "../content.mjs";
import { messageOf, modernHeaders, post } from "./request-bytes.mjs";

/** @import { LoadJob, Operation } from "../types.ts" */

/** @type {Operation} */
const listen = {
  name: "subscriptions/listen",
  method: "subscriptions/listen",
  params: { notifications: { resourceSubscriptions: [pageUri] } },
  expected: { kind: "text", text: "" },
};
const acknowledged = "notifications/subscriptions/acknowledged";
const updated = '"method":"notifications/resources/updated"';

/** An open change stream, with a separate id. */
export class ListenStream {
  #socket;
  #request;
  #rest = "";
  /** @type {((event: string) => void) | undefined} */
  #onEvent;
  /** @type {((error: Error) => void) | undefined} */
  #onError;

  /** @param {LoadJob} job @param {number} index */
  constructor(job, index) {
    const id = 1_000_000 + index;
    const message = messageOf(listen, job.revision).replace('"id":1000000', `"id":${id}`);
    this.#request = post(job, message, modernHeaders(listen));
    this.#socket = connect(job.port, "127.0.0.1");
    this.#socket.setEncoding("latin1").on("data", (text) => this.#take(String(text)));
    this.#socket.on("close", () => this.#onError?.(new Error("A stream was closed.")));
    this.#socket.on("error", (error) => this.#onError?.(error));
  }

  /** Sends the request, and waits for the acknowledgment of the server. */
  async open() {
    const first = this.#nextEvent();
    this.#socket.write(this.#request);
    const event = await first;
    if (!event.includes(acknowledged)) throw new Error(`The subscription was answered with ${event.slice(0, 300)}`);
  }

  /** Waits for the next change. */
  async next() {
    const event = await this.#nextEvent();
    if (!event.includes(updated)) throw new Error(`Expected a change, got ${event.slice(0, 300)}`);
  }

  /** @returns {Promise<string>} */
  #nextEvent() {
    return new Promise((resolve, reject) => {
      this.#onEvent = resolve;
      this.#onError = reject;
    });
  }

  /** @param {string} text */
  #take(text) {
    this.#rest += text;
    // An event ends with an empty line. Chunks may begin anywhere.
    let end = this.#rest.indexOf("\n\n", Math.max(0, this.#rest.length - text.length - 1));
    while (end !== -1) {
      const event = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      if (event.includes("data:")) this.#onEvent?.(event);
      end = this.#rest.indexOf("\n\n");
    }
  }
}
