import { spawn } from "node:child_process";
import { isatty } from "node:tty";
import type { connect } from "mcparley/client";
import type { CommandIo } from "./io.ts";

/** The streams, signals and environment of this process. */
export function processIo(): CommandIo {
  const { stdin, stdout, stderr } = process;
  return {
    stdin,
    stdout,
    stderr,
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    isTerminal: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    columns: () => [stdout, stderr].find((stream) => stream.isTTY)?.columns,
    onInterrupt: (listener) => {
      process.on("SIGINT", listener);
      return () => process.off("SIGINT", listener);
    },
    launch,
    connect: loadAndConnect as typeof connect,
  };
}

/** The client is loaded when it is wanted: serving does without it. */
async function loadAndConnect(...call: Parameters<typeof connect>): Promise<unknown> {
  const client = await import("mcparley/client");
  return client.connect(...call);
}

function launch(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { detached: true, stdio: "ignore", shell: false });
    child.once("error", reject);
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
