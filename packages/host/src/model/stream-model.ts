import { unlessAborted } from "../async/timing.ts";
import { isObject } from "../values/is-object.ts";
import type { LanguageModel } from "./language-model.ts";
import { modelError, modelName } from "./model-error.ts";
import type { ModelPart, ModelRequest } from "./model-request.ts";
import { optionsV3, optionsV4 } from "./prompt.ts";
import { partReader } from "./stream-parts.ts";

/**
 * Sends a request to a model, and yields the parts of its answer. The last part is `finish`.
 *
 * It throws the reason of the signal if the request is aborted, and otherwise an error without any part of the request, if the
 * model fails or its stream ends early. The stream of the model is closed when the generator ends.
 */
export async function* streamModel(
  model: LanguageModel,
  request: ModelRequest,
): AsyncGenerator<ModelPart, void, undefined> {
  const { signal } = request;
  checkVersion(model);
  const reader = await openStream(model, request);
  const read = partReader();
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : modelError(model, error);
      });
      if (done) throw modelError(model, "The stream ended before the answer was complete.");
      const part = isObject(value) ? value : {};
      if (part.type === "error") throw modelError(model, part.error);
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
    if (!signal?.aborted) throw modelError(model, error);
    void opening.then((stream) => stream.cancel()).catch(() => {});
    throw signal.reason;
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
