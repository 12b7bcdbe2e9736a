import type { CallOptionsV3, CallOptionsV4, LanguageModel } from "../model/language-model.ts";

/** A language model for tests. Each request is answered by the next step of a script. */
export type ScriptedModel = LanguageModel & {
  /** The options of the requests, in order. */
  readonly requests: readonly ModelCall[];
  /** The number of streams that have neither ended nor been cancelled. */
  readonly open: number;
};

/** The options of a request. */
export type ModelCall = CallOptionsV3 | CallOptionsV4;

/**
 * The answer to one request: the parts of the stream, an error that `doStream` rejects with, or a function that returns or throws
 * either.
 */
export type ScriptedStep = Answer | ((options: ModelCall) => Answer | PromiseLike<Answer>);

type Answer = Error | readonly ScriptedPart[];

/** A part of the stream. An `Error` breaks the stream, and `hang` waits until the request is aborted. */
export type ScriptedPart = { readonly type: string; readonly [member: string]: unknown } | Error | "hang";

/** Returns a model that answers each request with the next step. A request after the last step rejects. */
export function scriptedModel(
  steps: readonly ScriptedStep[],
  options: { version?: "v3" | "v4"; modelId?: string; provider?: string } = {},
): ScriptedModel {
  const requests: ModelCall[] = [];
  const state = { open: 0 };
  return {
    specificationVersion: options.version ?? "v4",
    provider: options.provider ?? "scripted",
    modelId: options.modelId ?? "scripted-model",
    requests,
    get open() {
      return state.open;
    },
    doStream: async (call: ModelCall) => {
      requests.push(call);
      const step = steps[requests.length - 1];
      if (!step) throw new Error(`The script has ${steps.length} steps; this is request ${requests.length}.`);
      call.abortSignal?.throwIfAborted();
      const answer = typeof step === "function" ? await step(call) : step;
      if (answer instanceof Error) throw answer;
      return { stream: streamOf(answer, call.abortSignal, state) };
    },
  };
}

/** Returns the step of a model that answers with a text. */
export function textStep(text: string): ScriptedPart[] {
  return [...textParts(text), finishPart("stop")];
}

/** Returns the step of a model that calls tools, with a text before the calls if one is given. */
export function callStep(calls: readonly ScriptedCall[], text?: string): ScriptedPart[] {
  const parts = calls.flatMap(({ name, input = {}, id = name }): ScriptedPart[] => {
    const json = typeof input === "string" ? input : JSON.stringify(input);
    return [
      { type: "tool-input-start", id, toolName: name },
      { type: "tool-input-delta", id, delta: json },
      { type: "tool-input-end", id },
      { type: "tool-call", toolCallId: id, toolName: name, input: json },
    ];
  });
  return [...(text === undefined ? [] : textParts(text)), ...parts, finishPart("tool-calls")];
}

export interface ScriptedCall {
  readonly name: string;
  /** The arguments, or the text of the model if it is a string. Default: `{}`. */
  readonly input?: object | string;
  /** Default: the name. */
  readonly id?: string;
}

/** Returns the last part of a stream. */
export function finishPart(reason: string, tokens: { input?: number; output?: number } = {}): ScriptedPart {
  return {
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: tokens.input ?? 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: tokens.output ?? 5, text: undefined, reasoning: undefined },
    },
  };
}

/** Returns the parts of a text, in two pieces if it has more than one character. */
export function textParts(text: string, id = "text"): ScriptedPart[] {
  const middle = Math.ceil(text.length / 2);
  const deltas = [text.slice(0, middle), text.slice(middle)].filter(Boolean);
  return [
    { type: "text-start", id },
    ...deltas.map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

function streamOf(
  parts: readonly ScriptedPart[],
  signal: AbortSignal | undefined,
  state: { open: number },
): ReadableStream<unknown> {
  const queue = [...parts];
  let isOpen = true;
  state.open++;
  const end = (): void => {
    if (isOpen) state.open--;
    isOpen = false;
  };
  return new ReadableStream<unknown>(
    {
      async pull(controller) {
        const part = queue.shift();
        if (part === "hang") await waitForAbort(signal);
        const error = part instanceof Error ? part : signal?.aborted ? signal.reason : undefined;
        if (part !== undefined && error === undefined) return controller.enqueue(part);
        end();
        if (error === undefined) controller.close();
        else controller.error(error);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

async function waitForAbort(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
}
