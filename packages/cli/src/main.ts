import { run } from "./command-line.ts";
import { exitCodes } from "./terminal/exit-codes.ts";
import { processIo } from "./terminal/io.ts";

const code = await run(process.argv.slice(2), processIo());
// Open handles must not keep the process alive after an interruption, or after the end of `--timeout`.
if (code === exitCodes.interrupted || code === exitCodes.terminated || code === exitCodes.timeout) process.exit(code);
process.exitCode = code;
