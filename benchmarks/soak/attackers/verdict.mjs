// @ts-check

/** @import { Answer } from "../../load/answer-reader.mjs" */

/** Refusals without the name of their limit, by the limit. @type {readonly [string, RegExp][]} */
const refusals = [
  ["sessions.max", /sessions\.max/],
  ["limits.idLength", /\\?"id\\?" must have at most|progressToken must be a string of at most/],
  ["limits.completionLength", /params\.(argument\.value|context\.arguments\S*) must have at most/],
  ["limits.depth", /nested more than \d+ levels/],
  ["limits.elements", /holds more than \d+ properties/],
  ["limits.batch", /A batch must have 1 to/],
  ["rateLimit", /Too many calls\. Try again/],
  ["maxBody", /body is larger than/],
  ["too complex", /too complex/],
];

/**
 * Returns a short name of an answer: the limit that a refusal names, "ok", "tool error", an HTTP status, or the code of a JSON-RPC error.
 *
 * @param {Pick<Answer, "status" | "body">} answer
 */
export function verdictOf({ status, body }) {
  const text = body.toString("latin1", 0, 8_000);
  if (/"result":|"result" :/.test(text) && status === 200) {
    if (!text.includes('"isError":true')) return "ok";
    return /too complex/.test(text) ? "too complex" : "tool error";
  }
  const named = /\((limits\.\w+|bodyTimeout)\)/.exec(text)?.[1];
  if (named !== undefined) return named;
  for (const [limit, pattern] of refusals) if (pattern.test(text)) return limit;
  if (status !== 200) return status === 202 ? "ok" : String(status);
  return /"error":\{"code":(-?\d+)/.exec(text)?.[1] ?? "unknown answer";
}
