// @ts-check
import { checkAnswer } from "./check-answer.mjs";
import { Connection } from "./connection.mjs";
import { openSession } from "./open-session.mjs";
import { payloadOf } from "./payload.mjs";
import { Numbered, messageOf, modernHeaders, modernRevision, post } from "./request-bytes.mjs";

/** @import { LoadJob } from "../types.ts" */
/** @import { Answer } from "./answer-reader.mjs" */

/** One client of the load: it sends a request, waits for the answer, checks it, and sends the next. */
export class Lane {
  #job;
  #connection;
  /** @type {Numbered | undefined} */
  #request;
  /** The first answer, which was read and compared; all others are these bytes with another id. @type {Numbered | undefined} */
  #expected;

  /** @param {LoadJob} job */
  constructor(job) {
    this.#job = job;
    this.#connection = new Connection(job.port);
  }

  /** Opens a session if the mode has sessions, and checks the content of one answer. */
  async open() {
    const { operation, sessions, revision } = this.#job;
    const headers = revision === modernRevision ? modernHeaders(operation) : {};
    if (sessions === "one") headers["mcp-session-id"] = await openSession(this.#connection, this.#job);
    const request = new Numbered(post(this.#job, messageOf(operation, revision), headers));
    const answer = await this.#connection.ask(request.bytes);
    const payload = payloadOf(expectOk(answer));
    checkAnswer(payload.toString("utf8"), request.id, operation.expected);
    // A copy, because the answer is part of a larger buffer that is reused.
    this.#expected = new Numbered(Buffer.from(payload));
    this.#request = request;
  }

  /**
   * Sends one request after another until `end`, and resolves when the last is answered.
   *
   * @param {number} end as of `performance.now()` @param {(milliseconds: number) => void} onAnswer receives the time of each answer
   * @returns {Promise<void>}
   */
  run(end, onAnswer) {
    const request = /** @type {Numbered} */ (this.#request);
    return new Promise((resolve, reject) => {
      let sentAt = 0;
      const next = () => {
        request.become(request.id + 1);
        sentAt = performance.now();
        send(request.bytes);
      };
      const send = this.#connection.drive((answer) => {
        const now = performance.now();
        this.#check(answer, request.id);
        onAnswer(now - sentAt);
        if (now < end) next();
        else resolve();
      }, reject);
      next();
    });
  }

  stop() {
    this.#connection.close();
  }

  /** Compares an answer with the first one, byte by byte. @param {Answer} answer @param {number} id */
  #check(answer, id) {
    const payload = payloadOf(expectOk(answer));
    const expected = /** @type {Numbered} */ (this.#expected);
    expected.become(id);
    if (expected.bytes.equals(payload)) return;
    throw new Error(`Request ${id} has another answer than the first request: ${payload.toString("utf8", 0, 300)}`);
  }
}

/** @param {Answer} answer */
function expectOk({ status, head, body }) {
  if (status === 200) return body;
  throw new Error(`Answered with ${head.split("\r\n", 1)[0]}: ${body.toString("utf8", 0, 300)}`);
}
