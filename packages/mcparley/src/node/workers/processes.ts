import cluster, { type Worker } from "node:cluster";
import { availableParallelism } from "node:os";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { wakefulClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { printable } from "../../rpc/printable.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { RunWorkersOptions, WorkerContext, WorkerService } from "./run-workers.ts";
import { RemoteStore } from "./remote-store.ts";
import { StoreServer } from "./store-server.ts";
import { type FromWorker, type ToWorker, unwrap, wrap, writeError } from "./worker-messages.ts";
import { WorkerPool, type WorkerProcess } from "./worker-pool.ts";

/** The variable with the number and the restarts of a worker. */
const variable = "MCPARLEY_WORKER";
/** Milliseconds within which a second signal is ignored. A terminal also signals the parent, which may forward the signal. */
const sameSignal = 500;
let isRunning = false;

/** Runs the workers in the primary process, and the service in a worker. */
export async function runProcess(
  start: (context: WorkerContext) => Awaitable<WorkerService>,
  options: RunWorkersOptions,
): Promise<void> {
  if (isRunning)
    throw new LocalError("invalid_definition", "runWorkers was called before in this process. Call it once.");
  isRunning = true;
  const place = placeOfWorker();
  if (cluster.isPrimary) return runPrimary(options).finally(() => (isRunning = false));
  if (place) return runWorker(start, place);
  const message =
    "This process is a worker of another program, such as PM2 in cluster mode. Start it as a normal process.";
  throw new LocalError("invalid_definition", message);
}

/** Returns the number and the restarts of this process. Undefined if no primary process of this library has started it. */
function placeOfWorker(): Omit<WorkerContext, "store"> | undefined {
  const place = process.env[variable];
  // Programs that a worker starts are no workers.
  delete process.env[variable];
  if (place === undefined) return undefined;
  const [worker = 1, restarts = 0] = place.split(" ").map(Number);
  return { worker, restarts };
}

/** Runs the workers of this process. Settles when they have ended. */
async function runPrimary(options: RunWorkersOptions): Promise<void> {
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
  const stopListening = onEndRequest(pool);
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
function onEndRequest(pool: WorkerPool): () => void {
  let first: number | undefined;
  const onSignal = (): void => {
    first ??= Date.now();
    if (Date.now() - first < sameSignal) pool.close();
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
        const ownMessage = unwrap<FromWorker>(message);
        if (ownMessage) listener(ownMessage);
      });
    },
    onExit: (listener) => {
      worker.on("exit", (code: number | null, signal: string | null) => {
        listener(signal ? `signal ${signal}` : `exit code ${code}`);
      });
    },
  };
}

/** Starts a worker. Resolves when it has closed. */
async function runWorker(
  start: (context: WorkerContext) => Awaitable<WorkerService>,
  place: Omit<WorkerContext, "store">,
): Promise<void> {
  const store = new RemoteStore((items) => send({ kind: "store", items }));
  const mustClose = new Promise<void>((resolve) => {
    process.on("message", (message) => {
      const ownMessage = unwrap<ToWorker>(message);
      if (ownMessage?.kind === "store") store.receive(ownMessage.items);
      else if (ownMessage?.kind === "close") resolve();
    });
    process.on("SIGTERM", () => resolve());
  });
  // A terminal sends Ctrl-C to all processes. The primary process then closes the workers.
  process.on("SIGINT", () => {});
  let service: WorkerService;
  try {
    service = await start({ ...place, store });
    if (typeof service?.close !== "function") {
      const message =
        "The function of runWorkers must return an object with a method close, such as the result of listen.";
      throw new LocalError("invalid_definition", message);
    }
  } catch (error) {
    // The primary process reports the error. This one must not end before the message is sent.
    return new Promise(() => send({ kind: "failed", error: writeError(error) }, () => process.exit(1)));
  }
  send({ kind: "ready", url: service.url });
  await mustClose;
  await service.close();
  // Without the channel, the process ends when nothing else is open.
  cluster.worker?.disconnect();
}

/** Sends a message to the primary process. Calls `done` when it is sent, or cannot be. */
function send(message: FromWorker, onSent: () => void = () => {}): void {
  if (process.connected) process.send?.(wrap(message), undefined, undefined, onSent);
  else onSent();
}
