// @ts-check
import { once } from "node:events";

/** What this program is to do: the first thing that its parent says. It ends when the parent does. @type {any} */
export const [job] = await once(process, "message");

process.once("disconnect", () => process.exit());

/** Tells the parent that this program cannot go on, and why, and ends. @param {unknown} error */
export function fail(error) {
  process.send?.({ failed: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
