// @ts-check
import { Counting } from "./counting.mjs";
import { fail } from "./job.mjs";

/** @import { TurnMessage, Work } from "../types.ts" */

/**
 * Works when the parent process requests it (`measure/turns.mjs`), and reports the end of each turn. No request is sent between two
 * turns.
 *
 * @param {Work} work
 */
export function takeTurns(work) {
  const counting = new Counting();
  process.on("message", (/** @type {TurnMessage} */ message) => {
    if (message === "report") process.send?.(counting.report());
    else if (typeof message === "object" && "turn" in message) {
      const counted = message.isCounted ? counting : new Counting();
      counted.turn(work, message.turn).then(() => process.send?.("rested"), fail);
    }
  });
  process.send?.("ready");
}
