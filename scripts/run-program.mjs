// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { root } from "./ready.mjs";

/**
 * Runs a program with this Node to its end, and returns its exit code. Ctrl+C of a terminal reaches the program itself, and SIGTERM is
 * passed on. This process ends after the program.
 *
 * @param {readonly string[]} args the file of the program and its arguments
 * @param {{ cwd?: string; env?: NodeJS.ProcessEnv; onOutput?: (text: string) => void }} [options] `onOutput` also receives the text
 *   that the program prints
 * @returns {Promise<number>}
 */
export async function runProgram(args, { cwd = root, env = process.env, onOutput } = {}) {
  const stdio = ["inherit", onOutput ? "pipe" : "inherit", "inherit"];
  const program = spawn(process.execPath, [...args], {
    cwd,
    env,
    stdio: /** @type {import("node:child_process").StdioOptions} */ (stdio),
  });
  program.stdout?.on("data", (chunk) => {
    process.stdout.write(chunk);
    onOutput?.(String(chunk));
  });
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => signal === "SIGTERM" && program.kill(signal);
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const [code] = await once(program, "exit");
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  return code ?? 1;
}
