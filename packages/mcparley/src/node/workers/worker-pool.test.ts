import { expect, test } from "vitest";
import { memoryStore } from "../../store/memory-store.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { StoreServer } from "./store-server.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";
import { WorkerPool } from "./worker-pool.ts";

/** A process whose messages and end a test scripts. */
interface ScriptedProcess {
  readonly number: number;
  readonly restarts: number;
  readonly received: ToWorker["kind"][];
  wasKilled: boolean;
  say(message: FromWorker): void;
  end(how: string): void;
}

function scriptedPool(workers = 2, closeTimeout = 30_000) {
  const clock = fakeClock();
  const processes: ScriptedProcess[] = [];
  const errors: string[] = [];
  const ready: (string | undefined)[] = [];
  const pool = new WorkerPool({
    workers,
    clock,
    closeTimeout,
    storeServer: new StoreServer(memoryStore({ clock }), clock),
    onReady: (url) => ready.push(url),
    onError: (error) => errors.push(error.message),
    fork(number, restarts) {
      let say: ScriptedProcess["say"];
      let end: ScriptedProcess["end"];
      const received: ToWorker["kind"][] = [];
      const made: ScriptedProcess = {
        number,
        restarts,
        received,
        wasKilled: false,
        say: (message) => say(message),
        end: (how) => end(how),
      };
      processes.push(made);
      return {
        pid: 100 + processes.length,
        send: ({ kind }) => received.push(kind),
        kill: () => {
          made.wasKilled = true;
          end("signal SIGKILL");
        },
        onMessage: (listener) => void (say = listener),
        onExit: (listener) => void (end = listener),
      };
    },
  });
  /** Returns the nth process from 0. A negative number counts from the last one. */
  const at = (index: number): ScriptedProcess => {
    const found = processes.at(index);
    if (!found) throw new Error(`There is no process ${index}.`);
    return found;
  };
  return { clock, processes, at, errors, ready, pool };
}

const readyAt = (url: string): FromWorker => ({ kind: "ready", url });

/** Starts a pool whose workers are all ready. */
function runningPool(workers = 2, closeTimeout?: number) {
  const scripted = scriptedPool(workers, closeTimeout);
  const run = scripted.pool.run();
  for (let index = 0; index < workers; index++) scripted.at(index).say(readyAt("http://127.0.0.1:1/mcp"));
  return { ...scripted, run };
}

const failed = (message: string): FromWorker => ({
  kind: "failed",
  error: { name: "UsageError", message, stack: "the stack of the worker", more: { hint: "Choose another port." } },
});

test("starts the first worker alone, then the others, and reports when all are ready", async () => {
  const { pool, processes, at, ready } = scriptedPool(3);
  const run = pool.run();
  expect(processes.map(({ number }) => number)).toEqual([1]);
  at(0).say(readyAt("http://127.0.0.1:1/mcp"));
  expect(processes.map(({ number }) => number)).toEqual([1, 2, 3]);
  at(1).say(readyAt("http://127.0.0.1:2/mcp"));
  expect(ready).toEqual([]);
  at(2).say(readyAt("http://127.0.0.1:3/mcp"));
  expect(ready).toEqual(["http://127.0.0.1:1/mcp"]);
  pool.close();
  for (const process of processes) process.end("exit code 0");
  await run;
});

test("rejects once with the error of the first worker that cannot start, and starts no others", async () => {
  const { pool, processes, at, errors } = scriptedPool();
  const run = pool.run();
  at(0).say(failed("Port 3000 is in use."));
  at(0).end("exit code 1");
  await expect(run).rejects.toMatchObject({
    code: "exited",
    message: "Worker 1 could not start: Port 3000 is in use.",
    cause: { name: "UsageError", stack: "the stack of the worker", hint: "Choose another port." },
  });
  expect(processes).toHaveLength(1);
  expect(errors).toEqual([]);
});

test("rejects with the exit code of a worker that ends before it is ready, and closes the others", async () => {
  const { pool, at } = scriptedPool();
  const run = pool.run();
  at(0).say(readyAt("http://127.0.0.1:1/mcp"));
  at(1).end("exit code 7");
  expect(at(0).received).toEqual(["close"]);
  at(0).end("exit code 0");
  await expect(run).rejects.toThrow(
    "Worker 2 (process 102) ended with exit code 7 before all workers were ready. Its output has the reason.",
  );
});

test("replaces a worker that ended after a minute at once", async () => {
  const { clock, at, errors } = runningPool();
  await clock.advance(60_000);
  at(0).end("signal SIGKILL");
  await clock.advance(0);
  expect(at(2)).toMatchObject({ number: 1, restarts: 1 });
  expect(errors).toEqual(["Worker 1 (process 101) ended with signal SIGKILL. Another one starts in 0 ms."]);
});

test("waits twice as long before each replacement of a worker that ends within a minute, and rejects at the fifth end", async () => {
  const { clock, pool, processes, at, errors, run } = runningPool();
  let settled = false;
  run.catch(() => (settled = true));
  for (const delay of [500, 1_000, 2_000, 4_000]) {
    const count = processes.length;
    processes.findLast(({ number }) => number === 2)!.end("exit code 1");
    await clock.advance(delay - 1);
    expect(processes).toHaveLength(count);
    await clock.advance(1);
    expect(processes).toHaveLength(count + 1);
  }
  expect(errors).toHaveLength(4);
  at(-1).say(failed("The database is down."));
  at(-1).end("exit code 1");
  await flushPromises();
  expect(settled).toBe(false);
  expect(at(0).received).toEqual(["close"]);
  at(0).end("exit code 0");
  await expect(run).rejects.toThrow(
    /^Worker 2 \(process 106\) ended with exit code 1, because it could not start: The database is down\. This was the 5th time/,
  );
  expect(errors).toHaveLength(4);
  expect(clock.pending).toBe(0);
  pool.close();
});

test("forgets the failures of a worker that has run for a minute", async () => {
  const { clock, processes, at } = runningPool();
  for (let failure = 1; failure <= 4; failure++) {
    at(-1).end("exit code 1");
    await clock.advance(4_000);
  }
  await clock.advance(60_000);
  at(-1).end("exit code 1");
  await clock.advance(0);
  const count = processes.length;
  at(-1).end("exit code 1");
  await clock.advance(500);
  expect(processes).toHaveLength(count + 1);
});

test("closes all workers, and starts none for one that ends while it closes", async () => {
  const { clock, pool, processes, at, errors, run } = runningPool();
  pool.close();
  pool.close();
  expect(processes.map(({ received }) => received)).toEqual([["close"], ["close"]]);
  at(0).end("exit code 0");
  at(1).end("exit code 0");
  await run;
  expect(processes).toHaveLength(2);
  expect(errors).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("asks a worker again that becomes ready after the pool was closed, because it may not have listened before", async () => {
  const { pool, at } = scriptedPool(2);
  const run = pool.run();
  at(0).say(readyAt("http://127.0.0.1:1/mcp"));
  pool.close();
  at(1).say(readyAt("http://127.0.0.1:1/mcp"));
  expect([at(0).received, at(1).received]).toEqual([["close"], ["close", "close"]]);
  at(0).end("exit code 0");
  at(1).end("exit code 0");
  await run;
});

test("starts no replacement that was waiting when the pool is closed", async () => {
  const { clock, pool, processes, at, run } = runningPool();
  at(0).end("exit code 1");
  pool.close();
  at(1).end("exit code 0");
  await run;
  await clock.advance(60_000);
  expect(processes).toHaveLength(2);
});

test("kills a worker that has not ended within closeTimeout, and names it", async () => {
  const { clock, pool, at, errors, run } = runningPool(2, 5_000);
  pool.close();
  at(0).end("exit code 0");
  await clock.advance(4_999);
  expect(at(1).wasKilled).toBe(false);
  await clock.advance(1);
  expect(at(1).wasKilled).toBe(true);
  await run;
  expect(errors).toEqual([expect.stringMatching(/^Worker 2 \(process 102\) did not end within 5000 ms of its close/)]);
});

test("resolves without a worker if it is closed before it runs", async () => {
  const { pool, processes } = scriptedPool();
  pool.close();
  await pool.run();
  expect(processes).toEqual([]);
});

test("kills all workers at once", async () => {
  const { pool, processes, run } = runningPool();
  pool.kill();
  await run;
  expect(processes.map(({ wasKilled }) => wasKilled)).toEqual([true, true]);
});
