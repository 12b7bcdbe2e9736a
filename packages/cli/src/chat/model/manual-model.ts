import type { LanguageModel } from "@mcparley/host";

/** The model of a chat without a model. */
export interface ManualModel {
  readonly model: LanguageModel;
  /** Runs work whose requests are answered with an empty text, to find out what a model would be sent. */
  readRequests<T>(this: void, work: () => Promise<T>): Promise<T>;
}

/**
 * Returns a model whose answers are written by the user. Servers that request sampling then receive an answer, although no model is
 * configured.
 */
export function manualModel(write: (signal: AbortSignal | undefined) => Promise<string>): ManualModel {
  let isReading = false;
  const model: LanguageModel = {
    specificationVersion: "v3",
    provider: "mcparley",
    modelId: "you",
    async doStream({ abortSignal }) {
      const text = isReading ? "" : await write(abortSignal);
      return { stream: streamOf(answerParts(text)) };
    },
  };
  return {
    model,
    async readRequests(work) {
      isReading = true;
      try {
        return await work();
      } finally {
        isReading = false;
      }
    },
  };
}

function streamOf(parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

function answerParts(text: string): unknown[] {
  const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
  const delta = text === "" ? [] : [{ type: "text-delta", id: "0", delta: text }];
  return [...delta, { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage }];
}
