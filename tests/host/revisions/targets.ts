import { fileURLToPath, pathToFileURL } from "node:url";
import type { ServerTarget } from "@mcparley/host";
import { listen } from "mcparley/node";
import { workshop } from "./workshop.ts";

export type TransportName = "memory" | "stdio" | "http" | "http+sse";

/** A server that a host can use, until it is closed. */
export interface RunningTarget {
  readonly target: ServerTarget;
  close(this: void): Promise<void>;
}

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const tsx = pathToFileURL(pathOf("../../../node_modules/tsx/dist/loader.mjs")).href;

/** Starts the server of the tests for one transport. */
export const targets: Readonly<Record<TransportName, () => Promise<RunningTarget>>> = {
  memory: () => Promise.resolve({ target: workshop(), close: async () => {} }),
  stdio: () => {
    const args = ["--import", tsx, pathOf("stdio-program.ts")];
    const target = { command: process.execPath, args, env: { TSX_DISABLE_CACHE: "1" } };
    return Promise.resolve({ target, close: async () => {} });
  },
  async http() {
    const { url, close } = await listen(workshop(), { port: 0 });
    return { target: url, close };
  },
  async "http+sse"() {
    const { url, close } = await listen(workshop(), { port: 0, legacySse: true });
    return { target: new URL("/sse", url), close };
  },
};
