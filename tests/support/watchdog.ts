import { Worker } from "node:worker_threads";

/** Seconds without a turn of the event loop after which the process of the test ends. */
const limit = 120;

/** Runs in another thread, because a pattern that takes exponential time stops all timers of this one. */
const guard = `
  const { writeSync } = require("node:fs");
  const { workerData } = require("node:worker_threads");
  const turns = new Int32Array(workerData.turns);
  let before = -1;
  setInterval(() => {
    const now = Atomics.load(turns, 0);
    if (now === before) {
      writeSync(2, workerData.file + ": the event loop stood still for " + workerData.limit + " s.\\n");
      process.kill(process.pid, "SIGKILL");
    }
    before = now;
  }, workerData.limit * 1000);
`;

/**
 * Ends the process of this test file if its event loop stands still. Without it, a test of a pattern that takes exponential
 * time would never fail, because the time limits of the test runner need the event loop as well.
 */
export function watchEventLoop(file: string): void {
  const turns = new SharedArrayBuffer(4);
  const count = new Int32Array(turns);
  setInterval(() => Atomics.add(count, 0, 1), 1_000).unref();
  new Worker(guard, { eval: true, workerData: { turns, file, limit } }).unref();
}
