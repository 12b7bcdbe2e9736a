import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

export { attacks, hostileText } from "./test-server/hostile.mjs";

const program = path.join(import.meta.dirname, "test-server/server.mjs");

interface TestServerOptions {
  /** The only revision of the server. Default: all. */
  readonly revision?: "2025-11-25" | "2026-07-28";
  /** Whether a tool has hostile characters in its name and description. Default: false. */
  readonly hasHostileNames?: boolean;
  /** Whether a tool fails on 2026-07-28, because it cannot ask its user there. Default: false. */
  readonly hasLegacyQuestions?: boolean;
}

/** An event that the server has recorded: `started` with its `pid`, `cancelled`, `answered` and others. */
export interface ServerEvent {
  readonly event: string;
  readonly [detail: string]: unknown;
}

/** The test server as the command that starts it. */
export interface StdioTestServer {
  /** The program and its arguments, to be used after `--` or in a configuration. */
  readonly command: readonly [string, ...string[]];
  /** Returns the events of all processes of the server. */
  readonly events: () => ServerEvent[];
}

/** Returns the command that starts the test server. */
export function stdioTestServer(options: TestServerOptions = {}): StdioTestServer {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-test-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "events");
  return {
    command: [process.execPath, program, ...flagsOf(options), "--log", file],
    events: () => readEvents(file),
  };
}

/** The test server as a process that serves HTTP. */
export interface HttpTestServer {
  readonly url: string;
  readonly events: () => ServerEvent[];
  /** Kills the process, and waits for its end. */
  readonly kill: () => Promise<void>;
  /** Starts the server again on the same port. */
  readonly restart: () => Promise<void>;
}

/** Starts the test server over HTTP. It is ended when the test is finished. */
export async function httpTestServer(options: TestServerOptions = {}): Promise<HttpTestServer> {
  const { command, events } = stdioTestServer(options);
  let running = await startHttp(command, "0");
  const { url } = running;
  onTestFinished(() => running.kill());
  return {
    url,
    events,
    kill: () => running.kill(),
    restart: async () => {
      await running.kill();
      running = await startHttp(command, new URL(url).port);
    },
  };
}

async function startHttp([file, ...args]: StdioTestServer["command"], port: string) {
  const child = spawn(file, [...args, "--http", "--port", port], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done === true) throw new Error("The test server ended before it printed its URL.");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { url: first.value, kill };
}

function flagsOf({ revision, hasHostileNames, hasLegacyQuestions }: TestServerOptions): string[] {
  return [
    ...(revision === undefined ? [] : ["--revision", revision]),
    ...(hasHostileNames ? ["--hostile-names"] : []),
    ...(hasLegacyQuestions ? ["--legacy-questions"] : []),
  ];
}

function readEvents(file: string): ServerEvent[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    // The last line may not be complete yet.
    return lines.slice(0, -1).map((line) => JSON.parse(line) as ServerEvent);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
