// @ts-check
import { setTimeout as pause } from "node:timers/promises";

/** @import { Program } from "./program.mjs" */

/** A server that cannot be kept busy is warm after so many times its time of work. */
const longest = 20;

/**
 * Waits until a server has worked for some time. It is its own time that counts, so that on a busy machine, too, every
 * one is given the same chance to be compiled.
 *
 * @param {Program} server @param {number} milliseconds
 */
export async function warmUp(server, milliseconds) {
  const last = performance.now() + milliseconds * longest;
  const enough = (await server.ask("cpu")) + milliseconds * 1_000;
  do await pause(50);
  while (performance.now() < last && (await server.ask("cpu")) < enough);
}
