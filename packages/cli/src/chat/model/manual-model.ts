import type { LanguageModel } from "@mcparley/host";

/**
 * The model of a chat without a model: the user writes its answers. Servers that request sampling then receive an answer, although no model
 * is configured.
 */
export class ManualModel {
  readonly model: LanguageModel;
  #isReading = false;

  constructor(write: (signal: AbortSignal | undefined) => Promise<string>) {
    this.model = {
      specificationVersion: "v3",
      provider: "mcparley",
      modelId: "you",
      doStream: async ({ abortSignal }) => {
        const text = this.#isReading ? "" : await write(abortSignal);
        const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
        const stream = new ReadableStream<unknown>({
          start(controller) {
            if (text !== "") controller.enqueue({ type: "text-delta", id: "0", delta: text });
            controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage });
            controller.close();
          },
        });
        return { stream };
      },
    };
  }

  /** Runs work whose requests are answered with an empty text, to find out what a model would be sent. */
  async readRequests(work: () => Promise<unknown>): Promise<void> {
    this.#isReading = true;
    try {
      await work();
    } finally {
      this.#isReading = false;
    }
  }
}
