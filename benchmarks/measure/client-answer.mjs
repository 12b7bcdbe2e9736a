// @ts-check
import { answer } from "../implementations/floor/answer.mjs";
import { settings } from "../settings.mjs";

/** A request of a client. @typedef {{ id: unknown, method: string, params?: any }} Request */

const measured = new Set(["tools/call", "tools/list"]);
const versionKey = "io.modelcontextprotocol/protocolVersion";
/** A list that no client may cache, because each call of the benchmark has to send a request (2026-07-28, CacheableResult). */
const uncached = settings.mode === "modern" ? { ttlMs: 0, cacheScope: "private" } : {};

/** Answers requests of a client as the floor does, and counts them. Refuses a request of another revision. */
export class Answers {
  /** The number of measured requests. */
  count = 0;
  /** The result of `tools/list`, which is the same each time. @type {object | undefined} */
  #list;

  /** Returns the response. @param {Request} request @returns {object} */
  to({ id, method, params = {} }) {
    if (measured.has(method)) {
      this.count++;
      const isModern = params._meta?.[versionKey] !== undefined;
      if (isModern !== (settings.mode === "modern")) return refusal(id, `This request is not ${settings.mode}.`);
    }
    if (method !== "tools/list") return answer({ id, method, params });
    this.#list ??= { .../** @type {any} */ (answer({ id, method, params })).result, ...uncached };
    return { jsonrpc: "2.0", id, result: this.#list };
  }
}

/** @param {unknown} id @param {string} message */
function refusal(id, message) {
  return { jsonrpc: "2.0", id, error: { code: -32600, message } };
}
