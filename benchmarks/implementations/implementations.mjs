// @ts-check
import path from "node:path";

/** @import { Implementation } from "../types.ts" */

const everyMode = /** @type {const} */ (["stateless", "session", "modern"]);
const bothAnswers = /** @type {const} */ (["json", "sse"]);

/** The one that all others are compared with: what somebody writes who wants no library. */
export const floor = "floor";
export const own = "mcparley";

/** @type {readonly Implementation[]} */
export const implementations = [
  {
    name: floor,
    isPeer: false,
    http: { modes: everyMode, answers: bothAnswers },
    stdio: { modes: ["session", "modern"] },
  },
  {
    name: own,
    isPeer: false,
    http: { modes: everyMode, answers: bothAnswers, acceptForEvents: "text/event-stream" },
    stdio: { modes: ["session", "modern"] },
  },
];

/** The program of a server. @param {Implementation} implementation @param {string} peers the folder of what was installed */
export function programOf({ name, isPeer }, peers) {
  const folder = isPeer ? path.join(peers, "implementations") : import.meta.dirname;
  return path.join(folder, name, "server.mjs");
}
