import { LocalError, type Clock } from "mcparley";
import { unlessAborted } from "../async/timing.ts";
import type { ModelFailure } from "./model-failure.ts";

/** A request to a model that has failed, and is sent again after a delay. */
export interface ModelRetry {
  /** The model, as `provider/modelId`. */
  readonly model: string;
  /** The HTTP status of the failed try. Undefined if the endpoint did not answer. */
  readonly status: number | undefined;
  /** The error of the failed try, without known secrets. */
  readonly error: Error;
  /** The number of the next try, from 2. */
  readonly nextTry: number;
  /** The maximum number of tries. */
  readonly maxTries: number;
  /** Milliseconds until the next try. */
  readonly delay: number;
}

/** How requests to models are repeated. */
export interface Retries {
  /** The maximum number of tries of a request, from 1. */
  readonly maxTries: number;
  /** The timers of the delays. They must keep the process alive. */
  readonly clock: Clock;
  /** Called before each delay. */
  readonly onRetry: (this: void, retry: ModelRetry) => void;
}

/** Maximum milliseconds of all delays of a request. */
export const longestWait = 120_000;

/** Milliseconds of the first delay of an endpoint that names no time. Each further one is twice as long. */
const firstDelay = 1000;
const longestDelay = 30_000;

/** Returns the number of tries, or its default. Throws a `RangeError` unless it is a whole number of at least 1. */
export function checkTries(tries = 4): number {
  if (Number.isSafeInteger(tries) && tries >= 1) return tries;
  throw new RangeError(`\`modelTries\` must be a whole number of at least 1; got ${String(tries)}.`);
}

/** Returns the milliseconds before the next try, after `tries` failed ones. */
export function nextDelay(tries: number, { retryAfter }: ModelFailure): number {
  if (retryAfter !== undefined) return retryAfter;
  const longest = Math.min(longestDelay, firstDelay * 2 ** (tries - 1));
  // Half of the delay is random, so that clients that failed at the same time do not return at the same time.
  return Math.round(longest * (0.5 + Math.random() / 2));
}

/** Resolves after a delay. Rejects with the reason of the signal if it is aborted before. */
export async function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  let timer: unknown;
  try {
    await unlessAborted(new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, ms))), signal);
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Returns an error with one more sentence at the end of its message. */
export function withSentence(error: Error, sentence: string): Error {
  const message = `${error.message}${/[.!?…]$/.test(error.message) ? "" : "."} ${sentence}`;
  return error instanceof LocalError ? new LocalError(error.code, message, { data: error.data }) : new Error(message);
}
