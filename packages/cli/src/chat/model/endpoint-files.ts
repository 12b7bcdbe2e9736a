import { createHash } from "node:crypto";
import type { LanguageModel } from "@mcparley/host";
import { EndpointError } from "./endpoint-error.ts";
import { type EndpointLanguageModel, type PromptFile, endpointPrompt } from "./endpoint-prompt.ts";

/**
 * The statuses with which endpoints refuse a file that the model cannot read. Ollama answers with 500, and OpenRouter with 404.
 */
const refusals: ReadonlySet<number | undefined> = new Set([400, 404, 413, 415, 422, 500, 501]);

type Answer = Awaited<ReturnType<EndpointLanguageModel["doStream"]>>;

/**
 * Returns a model that sends files in a form that an endpoint accepts, by `endpointPrompt`.
 *
 * Many models read no images. If the endpoint refuses a request with files, and accepts it without them, these files are not sent
 * again: the model receives their types and sizes.
 */
export function withReadableFiles(model: LanguageModel): LanguageModel {
  // The models of endpoints have this version.
  if (model.specificationVersion !== "v3") return model;
  const refused = new Set<string>();
  const { specificationVersion, provider, modelId } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    async doStream(options) {
      const send = async (accepts: (file: PromptFile) => boolean): Promise<Answer> =>
        model.doStream({ ...options, prompt: endpointPrompt(options.prompt, accepts) });
      const sent: string[] = [];
      try {
        return await send(({ data }) => {
          const isAccepted = refused.size === 0 || !refused.has(digest(data));
          if (isAccepted) sent.push(data);
          return isAccepted;
        });
      } catch (error) {
        const isRefusal = error instanceof EndpointError && refusals.has(error.status);
        if (sent.length === 0 || !isRefusal) throw error;
        // The first error has the reason if the files are not the problem.
        const answer = await send(() => false).catch((second: unknown) => {
          throw options.abortSignal?.aborted ? second : error;
        });
        for (const data of sent) refused.add(digest(data));
        return answer;
      }
    },
  };
}

function digest(data: string): string {
  return createHash("sha256").update(data).digest("base64");
}
