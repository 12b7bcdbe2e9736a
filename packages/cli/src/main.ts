import { processIo } from "./terminal/io.ts";
import { exitCodes } from "./commands/connection/report-error.ts";
import { run } from "./command-line.ts";

const code = await run(process.argv.slice(2), {
  ...processIo(),
  onTerminate: (listener) => {
    process.on("SIGTERM", listener);
    return () => process.off("SIGTERM", listener);
  },
});
// Open handles must not keep the process alive after an interruption, or after the end of `--timeout`.
if (code === exitCodes.interrupted || code === exitCodes.timeout) process.exit(code);
process.exitCode = code;
