// @ts-check
import { patience } from "./limits.mjs";
import { Service } from "./service.mjs";

/** Counts of the calls of visitors. Each call must settle once, with the expected outcome. */
export class Tally {
  begun = 0;
  settled = 0;
  visits = 0;
  /** Visits of each kind. @type {Map<string, number>} */
  kinds = new Map();
  /** Ids of the sessions that their visitors abandoned. @type {string[]} */
  abandoned = [];
  /** Unexpected events, with their counts. @type {Map<string, number>} */
  surprises = new Map();
  /** Calls that have not settled, each with its name and start. @type {Map<Promise<unknown>, { since: number, what: string }>} */
  #open = new Map();

  /** Watches a call until it settles. @template T @param {string} what @param {Promise<T>} call @returns {Promise<T>} */
  watch(what, call) {
    this.begun++;
    this.#open.set(call, { since: performance.now(), what });
    const settle = () => {
      if (this.#open.delete(call)) this.settled++;
    };
    call.then(settle, settle);
    return call;
  }

  /** Calls of ordinary visitors that must succeed. */
  service = new Service(patience);

  /** Watches a call that must succeed, and measures it. @template T @param {string} what @param {Promise<T>} call @returns {Promise<T>} */
  serve(what, call) {
    return this.watch(what, this.service.measure(call));
  }

  /** Is a `fetch` that counts refusals. The client may try again, so its calls can succeed in spite of them. @type {typeof fetch} */
  fetch = async (input, init) => {
    const response = await fetch(input, init);
    this.service.responded(response.status);
    return response;
  };

  /** Counts an unexpected event. @param {string} kind @param {unknown} error */
  surprise(kind, error) {
    const text = `${kind}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 200);
    this.surprises.set(text, (this.surprises.get(text) ?? 0) + 1);
  }

  /** The calls that have been open for longer than this. @param {number} milliseconds */
  openFor(milliseconds) {
    const limit = performance.now() - milliseconds;
    return [...this.#open.values()].filter(({ since }) => since < limit).map(({ what }) => what);
  }
}
