import type { Clock } from "mcparley";
import { unlessAborted } from "../async/timing.ts";
import { isObject } from "@mcparley/internal/is-object";
import type { LanguageModel } from "./language-model.ts";
import { modelError, modelName } from "./model-error.ts";
import { earlyEnd, readFailure } from "./model-failure.ts";
import type { ModelPart, ModelRequest } from "./model-request.ts";
import { optionsV3, optionsV4 } from "./prompt.ts";
import { type Retries, longestWait, nextDelay, pause, withSentence } from "./retries.ts";
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
  let waited = 0;
  for (let tries = 1; ; tries += 1) {
    let hasAnswer = false;
    try {
      for await (const part of streamOnce(model, request)) {
        if (!hasAnswer && isEarlyEnd(part)) throw earlyEnd;
        hasAnswer = true;
        yield part;
      }
      return;
    } catch (thrown) {
      signal?.throwIfAborted();
      const next = afterFailure({ model, thrown, tries, waited }, hasAnswer ? undefined : retries);
      if (next instanceof Error) throw next;
      await pause(next.delay, next.clock, signal);
      waited += next.delay;
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
  readonly thrown: unknown;
  /** The number of tries so far. */
  readonly tries: number;
  /** The milliseconds of all delays so far. */
  readonly waited: number;
}

/** Returns the delay before the next try, after it was reported. Returns the error for the caller if there is no next try. */
function afterFailure(
  { model, thrown, tries, waited }: FailedTry,
  retries: Retries | undefined,
): { readonly delay: number; readonly clock: Clock } | Error {
  const error = modelError(model, thrown);
  const lastError = tries === 1 ? error : withSentence(error, `The request was sent ${tries} times.`);
  if (!retries || tries >= retries.maxTries) return lastError;
  const { clock, maxTries, onRetry } = retries;
  const failure = readFailure(thrown, clock.now());
  if (!failure.isTemporary) return lastError;
  const delay = nextDelay(tries, failure);
  if (waited + delay > longestWait) {
    const limit = `The next try would be in ${seconds(delay)}, and a request waits at most ${seconds(longestWait)} in total.`;
    return withSentence(lastError, `${limit} Send it again after that time.`);
  }
  onRetry({ model: modelName(model), status: failure.status, error, nextTry: tries + 1, maxTries, delay });
  return { delay, clock };
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
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
