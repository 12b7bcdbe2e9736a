import type { StoreReply, StoreRequest } from "./store-messages.ts";

/** An error as JSON. */
export interface ErrorText {
  name: string;
  message: string;
  stack: string | undefined;
  /** Other members of the error whose values are strings or numbers, such as `code`. */
  more: Record<string, string | number>;
}

/** A message of a worker to the primary process. */
export type FromWorker =
  | { kind: "store"; items: StoreRequest[] }
  /** The worker has started. */
  | { kind: "ready"; url: string | undefined }
  /** The worker could not start, and ends. */
  | { kind: "failed"; error: ErrorText };

/** A message of the primary process to a worker. */
export type ToWorker = { kind: "store"; items: StoreReply[] } | { kind: "close" };

/** The member of an IPC message that contains a message of this library. Programs send other messages on the same channel. */
const envelope = "mcparley:workers";

export function wrap(message: FromWorker | ToWorker): object {
  return { [envelope]: message };
}

/** Returns the message of this library, or undefined for other messages of the program. */
export function unwrap<T extends FromWorker | ToWorker>(message: unknown): T | undefined {
  return typeof message === "object" && message !== null ? (message as { [envelope]?: T })[envelope] : undefined;
}

export function writeError(error: unknown): ErrorText {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), stack: undefined, more: {} };
  const { name, message, stack } = error;
  const more = Object.entries(error).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return { name, message, stack, more: Object.fromEntries(more) };
}

/** Returns an error with the message, the stack and the members of the original one. */
export function readError({ name, message, stack, more }: ErrorText): Error {
  return Object.assign(new Error(message), more, { name }, stack !== undefined && { stack });
}
