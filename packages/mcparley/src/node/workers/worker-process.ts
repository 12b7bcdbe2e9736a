import cluster from "node:cluster";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { RemoteStore } from "./remote-store.ts";
import type { WorkerContext, WorkerService } from "./run-workers.ts";
import { type FromWorker, type ToWorker, unwrap, wrap, writeError } from "./worker-messages.ts";

/** Starts a worker. Resolves when it has closed. */
export async function runWorker(
  start: (context: WorkerContext) => Awaitable<WorkerService>,
  place: Omit<WorkerContext, "store">,
): Promise<void> {
  const store = new RemoteStore((items) => send({ kind: "store", items }));
  const mustClose = new Promise<void>((resolve) => {
    process.on("message", (message) => {
      const own = unwrap<ToWorker>(message);
      if (own?.kind === "store") store.receive(own.items);
      else if (own?.kind === "close") resolve();
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
function send(message: FromWorker, done: () => void = () => {}): void {
  if (process.connected) process.send?.(wrap(message), undefined, undefined, done);
  else done();
}
