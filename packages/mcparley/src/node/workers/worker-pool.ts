import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { StoreServer } from "./store-server.ts";
import { type ErrorText, type FromWorker, type ToWorker, readError } from "./worker-messages.ts";

/** The process of a worker. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Sends a message. Does nothing if the process has ended. */
  send(message: ToWorker): void;
  kill(): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** Calls `listener` when the process has ended. `how` is its exit code or its signal, as text. */
  onExit(listener: (how: string) => void): void;
}

/** The place of a worker: processes that replace each other. */
interface Slot {
  /** From 1. */
  readonly number: number;
  process: WorkerProcess | undefined;
  isReady: boolean;
  /** The error with which the current process could not start. */
  startError: ErrorText | undefined;
  startedAt: number;
  /** Number of earlier processes. */
  restarts: number;
  /** Number of successive processes that ended within `steadyTime`. */
  failures: number;
  timer: unknown;
}

interface WorkerPoolInit {
  workers: number;
  fork: (number: number, restarts: number) => WorkerProcess;
  storeServer: StoreServer;
  clock: Clock;
  /** Milliseconds after which a worker that does not close is killed. */
  closeTimeout: number;
  /** Called once, when all workers are ready, with the URL that the first one reported. */
  onReady: (url: string | undefined) => void;
  /** Called when a worker ended without a request, or had to be killed. */
  onError: (error: Error) => void;
}

/** Milliseconds after which the end of a worker is no longer counted as a failure of its start. */
const steadyTime = 60_000;
/** Number of successive failures of a worker after which the pool ends. */
const maxFailures = 5;
const firstDelay = 500;

/**
 * The worker processes of a primary process. Replaces those that end.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> starting: the first worker is started (run)
 *   starting --> starting: the first worker is ready, and the others are started
 *   starting --> running: all are ready
 *   starting --> closing: a worker ended before all were ready; run will reject
 *   running --> running: a worker ended, and another one is started after a delay
 *   running --> closing: close, or a worker ended five times in a row within a minute of its start; then run will reject
 *   closing --> [*]: all have ended, or were killed after closeTimeout
 * ```
 */
export class WorkerPool {
  readonly #init: WorkerPoolInit;
  readonly #slots: readonly Slot[];
  #state: "starting" | "running" | "closing" = "starting";
  #url: string | undefined;
  #failure: Error | undefined;
  #killTimer: unknown;
  #resolveEnd: () => void = () => {};

  constructor(init: WorkerPoolInit) {
    this.#init = init;
    this.#slots = Array.from({ length: init.workers }, (_, index) => ({
      number: index + 1,
      process: undefined,
      isReady: false,
      startError: undefined,
      startedAt: 0,
      restarts: 0,
      failures: 0,
      timer: undefined,
    }));
  }

  /** Starts the workers. Resolves when all have ended after `close`. Rejects if one cannot start, or ends again and again. */
  async run(): Promise<void> {
    const allEnded = new Promise<void>((resolve) => (this.#resolveEnd = resolve));
    // One first, so that an error that each of them would have is reported once.
    if (this.#state === "starting") this.#fork(this.#slots[0]!);
    else this.#finishIfEnded();
    await allEnded;
    if (this.#failure) throw this.#failure;
  }

  /** Asks all workers to close, and kills those that have not ended after `closeTimeout`. */
  close(): void {
    if (this.#state === "closing") return;
    this.#state = "closing";
    const { clock, closeTimeout, onError } = this.#init;
    for (const { process, timer } of this.#slots) {
      if (timer !== undefined) clock.clearTimeout(timer);
      process?.send({ kind: "close" });
    }
    this.#killTimer = clock.setTimeout(() => {
      for (const { number, process } of this.#slots) {
        if (!process) continue;
        const name = `Worker ${number} (process ${process.pid})`;
        onError(
          new LocalError(
            "timeout",
            `${name} did not end within ${closeTimeout} ms of its close, and is killed. Close what it has open, such as connections of a database.`,
          ),
        );
        process.kill();
      }
    }, closeTimeout);
    this.#finishIfEnded();
  }

  /** Ends all workers at once. */
  kill(): void {
    this.close();
    for (const { process } of this.#slots) process?.kill();
  }

  #fork(slot: Slot): void {
    const { fork, storeServer, clock } = this.#init;
    const process = fork(slot.number, slot.restarts);
    const store = storeServer.connect((replies) => process.send({ kind: "store", items: replies }));
    Object.assign(slot, { process, isReady: false, startError: undefined, startedAt: clock.now(), timer: undefined });
    process.onMessage((message) => {
      if (message.kind === "store") store.receive(message.items);
      else if (message.kind === "failed") slot.startError = message.error;
      else this.#onReady(slot, message.url);
    });
    process.onExit((how) => {
      store.close();
      slot.process = undefined;
      this.#onExit(slot, `Worker ${slot.number} (process ${process.pid}) ended with ${how}`);
    });
  }

  #onReady(slot: Slot, url: string | undefined): void {
    slot.isReady = true;
    // A message that was sent before the worker listened is lost.
    if (this.#state === "closing") slot.process?.send({ kind: "close" });
    if (this.#state !== "starting") return;
    this.#url ??= url;
    if (slot.number === 1) for (const otherSlot of this.#slots.slice(1)) this.#fork(otherSlot);
    if (!this.#slots.every(({ isReady }) => isReady)) return;
    this.#state = "running";
    this.#init.onReady(this.#url);
  }

  /** `what` names the worker, and how its process has ended. */
  #onExit(slot: Slot, what: string): void {
    if (this.#state === "closing") return this.#finishIfEnded();
    const { startError } = slot;
    if (this.#state === "starting") {
      const message = startError
        ? `Worker ${slot.number} could not start: ${startError.message}`
        : `${what} before all workers were ready. Its output has the reason.`;
      return this.#fail(new LocalError("exited", message, startError && { cause: readError(startError) }));
    }
    const { clock, onError } = this.#init;
    slot.failures = clock.now() - slot.startedAt < steadyTime ? slot.failures + 1 : 0;
    const reason = startError ? `${what}, because it could not start: ${startError.message.replace(/\.$/, "")}` : what;
    if (slot.failures >= maxFailures) {
      const explanation = `This was the ${maxFailures}th time in a row within ${steadyTime / 1_000} seconds of its start, so the server ends.`;
      return this.#fail(
        new LocalError("exited", `${reason}. ${explanation}`, startError && { cause: readError(startError) }),
      );
    }
    const delay = slot.failures === 0 ? 0 : firstDelay * 2 ** (slot.failures - 1);
    slot.restarts++;
    slot.timer = clock.setTimeout(() => this.#fork(slot), delay);
    onError(new LocalError("exited", `${reason}. Another one starts in ${delay} ms.`));
  }

  #fail(failure: Error): void {
    this.#failure = failure;
    this.close();
  }

  #finishIfEnded(): void {
    if (this.#slots.some(({ process }) => process)) return;
    this.#init.clock.clearTimeout(this.#killTimer);
    this.#resolveEnd();
  }
}
