// @ts-check
import { once } from "node:events";

// What measures a process from inside lets it end; this one waits for what its parent says.
process.channel?.ref();

/** What this program is to do: its argument, or the first thing that its parent says. It ends when the parent does. @type {any} */
export const job = process.argv[2] === undefined ? await firstMessage() : JSON.parse(process.argv[2]);

process.once("disconnect", () => process.exit());

async function firstMessage() {
  const [message] = await once(process, "message");
  return message;
}

/** Tells the parent that this program cannot go on, and why, and ends. @param {unknown} error */
export function fail(error) {
  process.send?.({ failed: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
