import type { Clock } from "mcparley";
import type { ModelFinish, ModelPart, ModelRequest } from "../model/model-request.ts";
import type { Usage } from "../values/usage.ts";
import { type JoinedPart, joinPieces } from "../model/stream-parts.ts";
import { toError } from "../values/errors.ts";
import { waitWithGrace } from "./run-stop.ts";
import { usageOf } from "../model/usage.ts";

/** Sends a request to the model. It ends or throws if the signal of the request is aborted. */
export type StreamModel = (request: ModelRequest) => AsyncIterable<ModelPart>;

/** The answer of the model to one request. It is incomplete if `error` is set. */
export interface ModelAnswer {
  readonly parts: readonly JoinedPart[];
  readonly finish: ModelFinish | undefined;
  /** The tokens, as the provider reports them. Estimated if it reports none. Undefined if the request was refused. */
  readonly usage: Usage | undefined;
  readonly error: Error | undefined;
}

export interface AskOptions {
  readonly stream: StreamModel;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with each part of text and reasoning. */
  readonly onText: (type: "text" | "reasoning", text: string) => void;
}

/** Sends a request to the model, and reads its answer. It never rejects. */
export async function askModel(
  request: ModelRequest,
  { stream, clock, signal, onText }: AskOptions,
): Promise<ModelAnswer> {
  const pieces: ModelPart[] = [];
  let finish: (ModelPart & { type: "finish" }) | undefined;
  let error: Error | undefined;
  let isAbandoned = false;

  const reading = (async () => {
    try {
      for await (const part of stream({ ...request, signal })) {
        if (isAbandoned || signal.aborted) return;
        if (part.type === "finish") finish = part;
        else pieces.push(part);
        if ((part.type === "text" || part.type === "reasoning") && part.text !== "") onText(part.type, part.text);
      }
    } catch (cause) {
      if (!isAbandoned) error = toError(cause);
    }
  })();
  await waitWithGrace(reading, { signal, clock });
  isAbandoned = true;

  if (!finish) error ??= new Error("The answer of the model ended without a finish part.");
  const parts = partsOf(pieces, { isComplete: finish !== undefined });
  const isRefused = !finish && parts.length === 0 && !signal.aborted;
  // The tokens of a refused request are not counted by its provider.
  const usage = isRefused ? undefined : usageOf(request, parts, finish?.usage);
  return { parts, finish: finish?.reason, usage, error };
}

/** Returns the parts of an answer. Providers reject reasoning without its signature, which follows at the end. */
function partsOf(pieces: readonly ModelPart[], { isComplete }: { isComplete: boolean }): readonly JoinedPart[] {
  const parts = joinPieces(pieces);
  return !isComplete && parts.at(-1)?.type === "reasoning" ? parts.slice(0, -1) : parts;
}
