#!/usr/bin/env node
import { processIo } from "./client/io.ts";
import { run } from "./command-line.ts";

const code = await run(process.argv.slice(2), {
  ...processIo(),
  onTerminate: (listener) => {
    process.on("SIGTERM", listener);
    return () => process.off("SIGTERM", listener);
  },
});
// Open handles must not keep the process alive after an interruption.
if (code === 130) process.exit(code);
process.exitCode = code;
