import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Store } from "../../store/store.ts";

/** Options of `runWorkers`. */
export interface RunWorkersOptions {
  /** Number of worker processes, from 1 to 1,024. Default: the number of cores that the process may use. */
  workers?: number;
  /** Called in the primary process when all workers are ready, with the URL that the first worker listens on. */
  onReady?: (ready: { url: string | undefined }) => void;
  /**
   * Called in the primary process when a worker ended unexpectedly or had to be killed. Default: writes the message to the
   * console.
   */
  onError?: (error: Error) => void;
  /** Closes the workers when it is aborted, as SIGTERM does. */
  signal?: AbortSignal;
  /** Milliseconds after which a worker that does not close is killed. Default: 30,000. */
  closeTimeout?: number;
  /** Maximum number of keys, and of logs, of the shared store. Above it, the least recently written ones are removed. Default: 100,000. */
  maxKeys?: number;
  /**
   * Maximum number of characters of the shared store. Above it, writes fail, and requests that need them are answered with 503.
   * Default: 268,435,456.
   */
  maxSize?: number;
}

/** The argument of the function that starts a worker. */
export interface WorkerContext {
  /** A store that all workers share. It is in the memory of the primary process, and is lost when that process ends. */
  readonly store: Store;
  /** The number of the worker, from 1. A process that replaces another one has the same number. */
  readonly worker: number;
  /** Number of processes that had this number before. */
  readonly restarts: number;
}

/** A running service of a worker, such as the result of `listen`. */
export interface WorkerService {
  /** The URL for clients, if there is one. */
  readonly url?: string;
  /** Called once when the worker must end. The worker ends when it has settled. */
  close(): Promise<void>;
}

/**
 * Runs a server in several processes of this machine, which share its port and a store.
 *
 * This process becomes the primary process, and starts the same program again for each worker. There this function calls
 * `start`, which must listen, and must use the given store. If a worker ends, another one is started, and its sessions
 * continue on the others. SIGTERM and Ctrl-C close all workers. Call it once, before the program opens anything else: the
 * code before the call runs in each process.
 *
 * In the primary process it resolves when all workers have closed, and rejects with `LocalError` `exited` if a worker cannot
 * start, or if it ends five times in a row within a minute of its start. In a worker it resolves when the worker has closed.
 * Requires `node:cluster`, so it runs on Node.
 *
 * @example
 * ```ts
 * import { listen, runWorkers } from "mcparley/node";
 * import { createServer, tool } from "mcparley/server";
 *
 * const hello = tool({ description: "Greets.", call: () => "Hello" });
 *
 * await runWorkers(({ store }) => {
 *   const server = createServer({ name: "hello", version: "1.0.0", store, tools: { hello } });
 *   return listen(server, { port: 3000 });
 * });
 * ```
 */
export async function runWorkers(
  start: (context: WorkerContext) => Awaitable<WorkerService>,
  options: RunWorkersOptions = {},
): Promise<void> {
  // Most programs run in one process.
  const { runProcess } = await import("./processes.ts");
  return runProcess(start, options);
}
