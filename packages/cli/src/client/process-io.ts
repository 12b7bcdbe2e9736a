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
    openUrl: loadAndOpen,
    connect: loadAndConnect as typeof connect,
  };
}

/** The client is loaded when it is wanted: serving does without it. */
async function loadAndConnect(...call: Parameters<typeof connect>): Promise<unknown> {
  const client = await import("mcparley/client");
  return client.connect(...call);
}

async function loadAndOpen(url: string | URL): Promise<void> {
  const { openUrl } = await import("mcparley/node");
  await openUrl(url);
}
