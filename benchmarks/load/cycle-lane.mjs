// @ts-check
import { checkAnswer } from "./check-answer.mjs";
import { Connection } from "./connection.mjs";
import { openSession } from "./open-session.mjs";
import { payloadOf } from "./payload.mjs";
import { Numbered, lines, messageOf, post } from "./request-bytes.mjs";

/** @import { LoadJob } from "../types.ts" */

/** One client after another: each opens a session, makes a call, and closes the session. */
export class CycleLane {
  #job;
  #connection;

  /** @param {LoadJob} job */
  constructor(job) {
    this.#job = job;
    this.#connection = new Connection(job.port);
  }

  /** Has one session from beginning to end. */
  async open() {
    const { operation, revision, port } = this.#job;
    const id = await openSession(this.#connection, this.#job);
    const inSession = { "mcp-session-id": id };
    const request = new Numbered(post(this.#job, messageOf(operation, revision), inSession));
    const { status, body } = await this.#connection.ask(request.bytes);
    if (status !== 200) throw new Error(`The call was answered with ${status}.`);
    checkAnswer(payloadOf(body).toString("utf8"), request.id, operation.expected);
    const headers = { host: `127.0.0.1:${port}`, "mcp-protocol-version": revision, ...inSession };
    const deleted = await this.#connection.ask(`DELETE /mcp HTTP/1.1\r\n${lines(headers)}\r\n\r\n`);
    if (deleted.status !== 200 && deleted.status !== 204)
      throw new Error(`DELETE was answered with ${deleted.status}.`);
  }

  /**
   * Opens, uses and closes one session after another until `end`.
   *
   * @param {number} end as of `performance.now()` @param {(milliseconds: number) => void} onSession receives the time of each
   */
  async run(end, onSession) {
    let begun = performance.now();
    do {
      await this.open();
      onSession(performance.now() - begun);
      begun = performance.now();
    } while (begun < end);
  }

  stop() {
    this.#connection.close();
  }
}
