// @ts-check
import { appendFileSync } from "node:fs";

/*
 * Loaded into the process of the chat before its program. Appends its memory to the file MEMORY_FILE on SIGUSR2, because a
 * program in a pseudo-terminal has no channel for messages.
 */
const file = process.env["MEMORY_FILE"];

process.on("SIGUSR2", () => {
  if (file === undefined) return;
  // Collects twice, because memory that finalizers release is free after the next collection.
  globalThis.gc?.();
  globalThis.gc?.();
  appendFileSync(file, `${JSON.stringify(process.memoryUsage())}\n`);
});
