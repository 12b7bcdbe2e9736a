import { type Clock, LocalError } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { unlessAborted } from "../async/timing.ts";
import { type LanguageModel, modelName } from "./language-model.ts";
import { modelError, earlyEnd, readFailure, type ModelFailure } from "./model-failure.ts";
import type { ModelPart, ModelRequest } from "./model-request.ts";
import { optionsV3, optionsV4 } from "./prompt.ts";
import { RequestFiles } from "./readable-files.ts";
import { partReader } from "./stream-parts.ts";

/** Sends a request to a model. */
export type StreamModel = (model: LanguageModel, request: ModelRequest) => AsyncIterable<ModelPart>;

/**
 * Sends a request to a model, and yields the parts of its answer. The last part is `finish`.
 *
 * A temporary failure is repeated as `retries` states, unless a part of the answer was yielded, because the caller may have shown it.
 * If `retries` is omitted, nothing is repeated.
 *
 * It throws the reason of the signal if the request is aborted, and otherwise an error without any part of the request, if the
 * model fails or its stream ends early. The stream of the model is closed when the generator ends.
 */
export async function* streamModel(
  model: LanguageModel,
  request: ModelRequest,
  retries?: Retries,
): AsyncGenerator<ModelPart, void, undefined> {
  const { signal } = request;
  checkVersion(model);
  let totalDelay = 0;
  for (let tries = 1; ; tries += 1) {
    let hasAnswer = false;
    try {
      for await (const part of streamReadable(model, request)) {
        hasAnswer = true;
        yield part;
      }
      return;
    } catch (cause) {
      signal?.throwIfAborted();
      const next = afterFailure({ model, cause, tries, totalDelay }, hasAnswer ? undefined : retries);
      if (next instanceof Error) throw next;
      await pause(next.delay, next.clock, signal);
      totalDelay += next.delay;
    }
  }
}

/** Whether a stream ended without a reason of the provider, which is an early end if nothing precedes it. */
function isEarlyEnd(part: ModelPart): boolean {
  return part.type === "finish" && part.reason === "error" && part.raw === undefined;
}

/** A failed try of a request. */
interface FailedTry {
  readonly model: LanguageModel;
  readonly cause: unknown;
  /** The number of tries so far. */
  readonly tries: number;
  /** The milliseconds of all delays so far. */
  readonly totalDelay: number;
}

/** Returns the delay before the next try, after it was reported. Returns the error for the caller if there is no next try. */
function afterFailure(
  { model, cause, tries, totalDelay }: FailedTry,
  retries: Retries | undefined,
): { readonly delay: number; readonly clock: Clock } | Error {
  const error = modelError(model, cause);
  const lastError = tries === 1 ? error : withSentence(error, `The request was sent ${tries} times.`);
  if (!retries || tries >= retries.maxTries) return lastError;
  const { clock, maxTries, onRetry } = retries;
  const failure = readFailure(cause, clock.now());
  if (!failure.isTemporary) return lastError;
  const delay = nextDelay(tries, failure);
  if (totalDelay + delay > longestWait) {
    const limit = `The next try would be in ${seconds(delay)}, and a request waits at most ${seconds(longestWait)} in total.`;
    return withSentence(lastError, `${limit} Send it again after that time.`);
  }
  onRetry({ model: modelName(model), status: failure.status, error, nextTry: tries + 1, maxTries, delay });
  return { delay, clock };
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}

/** Sends a request, and repeats it at once without the files that the model refuses. */
async function* streamReadable(
  model: LanguageModel,
  request: ModelRequest,
): AsyncGenerator<ModelPart, void, undefined> {
  const files = new RequestFiles(model, request.messages);
  for (;;) {
    let hasAnswer = false;
    try {
      for await (const part of streamOnce(model, { ...request, messages: files.messages() })) {
        if (!hasAnswer && isEarlyEnd(part)) throw earlyEnd;
        if (!hasAnswer) files.accept();
        hasAnswer = true;
        yield part;
      }
      return;
    } catch (cause) {
      request.signal?.throwIfAborted();
      if (hasAnswer) throw cause;
      const failure = files.leaveOut(cause);
      if (failure) throw failure.error;
    }
  }
}

async function* streamOnce(model: LanguageModel, request: ModelRequest): AsyncGenerator<ModelPart, void, undefined> {
  const reader = await openStream(model, request);
  const read = partReader();
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), request.signal);
      if (done) throw earlyEnd;
      const part = isObject(value) ? value : {};
      if (part.type === "error") throw part.error;
      yield* read(part);
      if (part.type === "finish") return;
    }
  } finally {
    // It is not awaited, because a provider can wait here for the end of its request.
    void reader.cancel().catch(() => {});
  }
}

async function openStream(model: LanguageModel, request: ModelRequest): Promise<ReadableStreamDefaultReader<unknown>> {
  const { signal } = request;
  signal?.throwIfAborted();
  // An async function, so that an error which `doStream` throws is a rejection.
  const opening = (async () => (await call(model, request)).stream)();
  try {
    return (await unlessAborted(opening, signal)).getReader();
  } catch (error) {
    if (signal?.aborted) void opening.then((stream) => stream.cancel()).catch(() => {});
    throw error;
  }
}

function call(model: LanguageModel, request: ModelRequest): PromiseLike<{ readonly stream: ReadableStream<unknown> }> {
  return model.specificationVersion === "v3" ? model.doStream(optionsV3(request)) : model.doStream(optionsV4(request));
}

/** Throws for a model of another version of the specification, which only a program without types can pass. */
function checkVersion(model: LanguageModel): void {
  const version: string = model.specificationVersion;
  if (version === "v3" || version === "v4") return;
  throw new TypeError(
    `The model "${modelName(model)}" has the specification version "${version}". ` +
      "Use a version of the provider's package with a LanguageModelV3 or LanguageModelV4.",
  );
}

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
const longestWait = 120_000;

/** Milliseconds of the first delay of an endpoint that names no time. Each further one is twice as long. */
const firstDelay = 1000;
const longestDelay = 30_000;

/** Returns the number of tries, or its default. Throws a `RangeError` unless it is a whole number of at least 1. */
export function checkTries(tries = 4): number {
  if (Number.isSafeInteger(tries) && tries >= 1) return tries;
  throw new RangeError(`\`modelTries\` must be a whole number of at least 1; got ${String(tries)}.`);
}

/** Returns the milliseconds before the next try, after `tries` failed ones. */
function nextDelay(tries: number, { retryAfter }: ModelFailure): number {
  if (retryAfter !== undefined) return retryAfter;
  const longest = Math.min(longestDelay, firstDelay * 2 ** (tries - 1));
  // Half of the delay is random, so that clients that failed at the same time do not return at the same time.
  return Math.round(longest * (0.5 + Math.random() / 2));
}

/** Resolves after a delay. Rejects with the reason of the signal if it is aborted before. */
async function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  let timer: unknown;
  try {
    await unlessAborted(new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, ms))), signal);
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Returns an error with one more sentence at the end of its message. */
function withSentence(error: Error, sentence: string): Error {
  const message = `${error.message}${/[.!?…]$/.test(error.message) ? "" : "."} ${sentence}`;
  return error instanceof LocalError ? new LocalError(error.code, message, { data: error.data }) : new Error(message);
}
