import cluster, { type Worker } from "node:cluster";
import { availableParallelism } from "node:os";
import { type Clock, wakefulClock } from "../../rpc/clock.ts";
import { printable } from "../../rpc/printable.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { RunWorkersOptions, WorkerContext } from "./run-workers.ts";
import { StoreServer } from "./store-server.ts";
import { type FromWorker, unwrap, wrap } from "./worker-messages.ts";
import { WorkerPool, type WorkerProcess } from "./worker-pool.ts";

/** The variable with the number and the restarts of a worker. */
const variable = "MCPARLEY_WORKER";
/** Milliseconds within which a second signal is ignored. A terminal also signals the parent, which may forward the signal. */
const sameSignal = 500;
/** Returns the number and the restarts of this process. Undefined if no primary process of this library has started it. */
export function placeOfWorker(): Omit<WorkerContext, "store"> | undefined {
  const place = process.env[variable];
  // Programs that a worker starts are no workers.
  delete process.env[variable];
  if (place === undefined) return undefined;
  const [worker = 1, restarts = 0] = place.split(" ").map(Number);
  return { worker, restarts };
}

/** Runs the workers of this process. Settles when they have ended. */
export async function runPrimary(options: RunWorkersOptions): Promise<void> {
  const { workers = availableParallelism(), onReady, signal, closeTimeout = 30_000 } = options;
  const { maxKeys = 100_000, maxSize = 268_435_456 } = options;
  if (!Number.isInteger(workers) || workers < 1 || workers > 1_024) {
    throw new RangeError(`The option workers must be a whole number from 1 to 1,024; got ${String(workers)}.`);
  }
  const pool = new WorkerPool({
    workers,
    fork: forkWorker,
    storeServer: new StoreServer(memoryStore({ maxKeys, maxSize })),
    clock: wakefulClock,
    closeTimeout,
    onReady: (url) => onReady?.({ url }),
    // oxlint-disable-next-line no-console -- the default, so that no end of a worker goes unnoticed
    onError: options.onError ?? ((error) => console.error(printable(error.message))),
  });
  const stopListening = onEndRequest(wakefulClock, pool);
  const close = (): void => pool.close();
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted) close();
  try {
    await pool.run();
  } finally {
    signal?.removeEventListener("abort", close);
    stopListening();
  }
}

/** Closes the pool at the first SIGINT or SIGTERM, and ends the workers at once at the second. */
function onEndRequest(clock: Clock, pool: WorkerPool): () => void {
  let first: number | undefined;
  const onSignal = (): void => {
    first ??= clock.now();
    if (clock.now() - first < sameSignal) pool.close();
    else pool.kill();
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return () => void process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
}

function forkWorker(number: number, restarts: number): WorkerProcess {
  const worker: Worker = cluster.fork({ [variable]: `${number} ${restarts}` });
  // The channel closes before the end of the process is known. A message that is lost then concerns nobody.
  worker.on("error", () => {});
  return {
    pid: worker.process.pid,
    send: (message) => void (worker.isConnected() && worker.send(wrap(message), () => {})),
    kill: () => void worker.process.kill("SIGKILL"),
    onMessage: (listener) => {
      worker.on("message", (message: unknown) => {
        const own = unwrap<FromWorker>(message);
        if (own) listener(own);
      });
    },
    onExit: (listener) => {
      worker.on("exit", (code: number | null, signal: string | null) => {
        listener(signal ? `signal ${signal}` : `exit code ${code}`);
      });
    },
  };
}
