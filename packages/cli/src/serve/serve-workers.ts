import { LocalError } from "mcparley";
import { runWorkers } from "mcparley/node";
import { UsageError } from "../terminal/io.ts";
import { type FolderService, startHttp } from "./http-service.ts";
import type { Serving } from "./serving.ts";

/**
 * Serves the folder over HTTP in worker processes. This process starts the same command again for each of them, and reads no
 * folder itself. Throws `UsageError` if a worker cannot start, or ends again and again.
 */
export async function overHttpInWorkers(serving: Serving, workers: number): Promise<void> {
  try {
    await runWorkers(
      async ({ store, worker, restarts }): Promise<FolderService> => {
        const service = await startHttp({ ...serving, store, isFirst: worker === 1 });
        if (worker === 1 && restarts === 0) service.show();
        return service;
      },
      { workers, onError: ({ message }) => serving.tell(message) },
    );
  } catch (error) {
    throw error instanceof LocalError && error.code === "exited" ? explain(error) : error;
  }
}

/** Returns the error that the worker had, if it had one. */
function explain({ message, cause }: LocalError): Error {
  if (!(cause instanceof Error)) return new UsageError(message, "The lines above have the reason, if it wrote one.");
  if (cause.name !== "UsageError") return cause;
  const { hint } = cause as UsageError;
  return new UsageError(cause.message, hint);
}
