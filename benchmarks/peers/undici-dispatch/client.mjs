import { Pool } from "undici";
import { bodyReader, handWritten } from "../hand-written.mjs";

/** Connects a client without a library that uses `dispatch` of undici. */
export async function connect({ url, revision }) {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin);
  return handWritten(
    revision,
    (json, headers) =>
      new Promise((resolve, reject) => {
        pool.dispatch({ path, method: "POST", headers, body: json }, new Response(resolve, reject));
      }),
  );
}

/** Receives one response. An error that a method throws is reported to `onResponseError`. */
class Response {
  #resolve;
  #reject;
  #body;

  constructor(resolve, reject) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart() {}

  onResponseStart(_, status, headers) {
    this.#body = bodyReader(status, headers["content-type"]);
  }

  onResponseData(_, chunk) {
    this.#body.write(chunk);
  }

  onResponseEnd() {
    this.#resolve(this.#body.end());
  }

  onResponseError(_, error) {
    this.#reject(error);
  }
}
