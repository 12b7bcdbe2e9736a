import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("./programs", import.meta.url));
const generated = fileURLToPath(new URL("./.generated/", import.meta.url));

/** Milliseconds after which a program is killed. An attack that succeeds then fails its test instead of blocking it. */
export const programTimeout = 170_000;

/** The same for a program that serves all tests of a file. */
const serverTimeout = 900_000;

/** Heap of a program, in MiB. An attack on memory ends the program and not the test run. */
const heap = 256;

/** A program that runs until it is stopped. */
export interface RunningProgram {
  /** The first line that the program wrote to stdout. */
  readonly firstLine: string;
  /** Whether the program has not ended. */
  readonly isRunning: boolean;
  stop(): Promise<void>;
}

/** Runs a program of the folder `programs` to its end, and returns the JSON that it wrote to stdout. */
export async function runProgram(name: string, args: readonly string[] = []): Promise<unknown> {
  const child = await start(name, args, programTimeout);
  const ended = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${name} ended with ${String(signal ?? code)}: ${stderr.slice(-1000)}`);
  return JSON.parse(stdout);
}

/** Starts a program of the folder `programs`, and waits for its first line. */
export async function startProgram(name: string): Promise<RunningProgram> {
  const child = await start(name, [], serverTimeout);
  child.stderr.resume();
  const ended = once(child, "close");
  const [firstLine] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    ended.then(([code]) => Promise.reject(new Error(`${name} ended with ${String(code)} before its first line.`))),
  ])) as [string];
  return {
    firstLine,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function start(name: string, args: readonly string[], timeout: number): Promise<ChildProcessWithoutNullStreams> {
  const outfile = path.join(generated, `${name}.mjs`);
  const entryPoints = [path.join(folder, `${name}.ts`)];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  return spawn(process.execPath, [`--max-old-space-size=${heap}`, outfile, ...args], {
    timeout,
    killSignal: "SIGKILL",
  });
}
