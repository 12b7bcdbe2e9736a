import { expect, test } from "vitest";
import { type WorkerService, runWorkers } from "./run-workers.ts";

const start = (): WorkerService => expect.fail("The function must not be called in the primary process.");

test.each([0, -1, 1.5, Number.NaN, 1_025, "2"])("refuses %s workers", async (workers) => {
  await expect(runWorkers(start, { workers: workers as number })).rejects.toThrow(
    new RangeError(`The option workers must be a whole number from 1 to 1,024; got ${workers}.`),
  );
});

test("starts no worker if its signal is aborted already, and leaves no listener", async () => {
  const listeners = (): number => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
  const before = listeners();
  await runWorkers(start, { workers: 2, signal: AbortSignal.abort() });
  expect(listeners()).toBe(before);
});

test("refuses a second call while the first one runs", async () => {
  const first = runWorkers(start, { signal: AbortSignal.abort() });
  await expect(runWorkers(start)).rejects.toThrow("runWorkers was called before in this process. Call it once.");
  await first;
});
