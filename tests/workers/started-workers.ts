import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type RawHttp, rawHttp } from "../support/raw-http.ts";

/** A line that the program prints: a worker that listens, the pool that is ready, or a process that has closed. */
interface Line {
  worker?: number;
  restarts?: number;
  pid?: number;
  /** URL of the port that all workers share. */
  shared?: string;
  own?: string;
  ready?: string;
  closed?: number;
}

export interface StartedWorker {
  readonly pid: number;
  /** A client of this worker alone. */
  readonly client: RawHttp;
  readonly url: string;
}

export interface StartedWorkers {
  readonly pid: number;
  /** URL of the port that all workers share. */
  readonly url: string;
  readonly workers: readonly [StartedWorker, StartedWorker];
  /** Resolves when a worker that replaces another one listens. */
  replacement(this: void, worker: number): Promise<StartedWorker>;
  readonly ended: Promise<Ended>;
}

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  err: string;
  lines: readonly Line[];
}

/** Starts the program. `line` resolves with the first line, printed or still to come, that fits. */
export function startProgram(env: Record<string, string> = {}, name = "program.mjs") {
  const child = spawn(process.execPath, [fileURLToPath(new URL(name, import.meta.url))], {
    // A group of its own, so that a test can send a signal to all of its processes as a terminal does.
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: Line[] = [];
  let err = "";
  const waiting = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  createInterface(child.stdout).on("line", (text) => {
    lines.push(JSON.parse(text) as Line);
    for (const look of waiting) look();
  });
  const ended = once(child, "close").then(([code, signal]): Ended => ({
    code: code as Ended["code"],
    signal: signal as Ended["signal"],
    err,
    lines,
  }));
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await ended;
  });
  const line = (fits: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find(fits);
        if (found) resolve(found);
      };
      waiting.add(look);
      look();
      void ended.then(({ code }) => reject(new Error(`The program ended with ${code}: ${err}`)));
    });
  return { pid: child.pid!, line, ended };
}

/** Starts the program, and resolves when its two workers listen. */
export async function startWorkers(): Promise<StartedWorkers> {
  const { pid, line, ended } = startProgram();
  const worker = async (number: number, restarts: number): Promise<StartedWorker> => {
    const { pid, own } = await line((line) => line.worker === number && line.restarts === restarts);
    return { pid: pid!, url: own!, client: rawHttp(own!, fetch) };
  };
  const { ready } = await line((line) => line.ready !== undefined);
  const workers = [await worker(1, 0), await worker(2, 0)] as const;
  return { pid, url: ready!, workers, replacement: (number) => worker(number, 1), ended };
}

/** Returns whether a process exists. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
