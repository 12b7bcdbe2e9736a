import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CommandTarget } from "mcparley/client";

const root = new URL("../../", import.meta.url);
// Named by its URL, so that the example can be started in any folder.
const tsx = pathToFileURL(fileURLToPath(new URL("node_modules/tsx/dist/loader.mjs", root))).href;

/** The environment of an example: finds the commands of the packages, as with `npm start`, and writes no cache. */
const environment = {
  ...process.env,
  PATH: [fileURLToPath(new URL("node_modules/.bin", root)), process.env.PATH].join(path.delimiter),
  TSX_DISABLE_CACHE: "1",
};

/** Returns the arguments of Node that run a program of an example: `api-keys/server.ts`. */
export function argumentsOf(program: string): string[] {
  return ["--import", tsx, fileURLToPath(new URL(`examples/${program}`, root))];
}

/** A server of an example that a client starts. */
export function commandOf(program: string, env: Record<string, string> = {}): CommandTarget {
  return { command: process.execPath, args: argumentsOf(program), env: { TSX_DISABLE_CACHE: "1", ...env } };
}

export interface RunningExample {
  child: ChildProcess;
  /** Everything that it has written to stdout and stderr. */
  output: () => string;
  /** Resolves with the first part of the output that matches. Rejects if the program ends before. */
  printed: (pattern: RegExp) => Promise<string>;
  exited: Promise<number | null>;
}

/** Starts a program of an example. The caller ends it. `input` is the whole text of its stdin. Default: an empty one. */
export function runExample(args: string[], env: Record<string, string> = {}, input = ""): RunningExample {
  const child = spawn(process.execPath, args, {
    env: { ...environment, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A program that has ended does not read its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  let all = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (all += text));
  }
  const exited = once(child, "close").then(([code]) => code as number | null);
  const printed = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = pattern.exec(all);
        if (found) resolve(found[1] ?? found[0]);
      };
      child.stdout.on("data", check);
      child.stderr.on("data", check);
      check();
      void exited.then(() => reject(new Error(`The example ended without ${String(pattern)}:\n${all}`)));
    });
  return { child, output: () => all, printed, exited };
}

/** Returns a port that is free now, for a server that must know its URL before it listens. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}
