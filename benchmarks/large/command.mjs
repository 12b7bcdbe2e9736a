// @ts-check
import path from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../scripts/ready.mjs";
import { residentOf } from "../measure/resident.mjs";

/** Runs the command `mcparley` with the arguments of this program, and reports its peak memory when it ends. */

const main = path.join(root, "packages/cli/dist/main.js");
process.argv[1] = fileURLToPath(new URL(`file://${main}`));
process.once("exit", (code) => {
  const peak = residentOf()?.peak ?? NaN;
  process.send?.(code === 0 ? { peak } : { failed: `The command ended with ${code}.` });
});
// The command must not wait for messages of its parent process.
process.channel?.unref();
await import(main);
