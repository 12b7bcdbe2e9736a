// @ts-check
import { once } from "node:events";

// The program waits for messages of its parent process.
process.channel?.ref();

/** The job of this program: its argument, or the first message of its parent. It ends when the parent does. @type {any} */
export const job = process.argv[2] === undefined ? await firstMessage() : JSON.parse(process.argv[2]);

process.once("disconnect", () => process.exit());

async function firstMessage() {
  const [message] = await once(process, "message");
  return message;
}

/** Reports an error to the parent, and exits. @param {unknown} error */
export function fail(error) {
  process.send?.({ failed: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
