import type { LanguageModel } from "@mcparley/host";
import { isObject } from "@mcparley/internal/is-object";
import { endpointFetch } from "./endpoint-fetch.ts";
import { EndpointError, connectionError, streamError } from "./endpoint-error.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * Returns the model of an endpoint in the format of OpenAI's chat completions. `provider` is its name in errors.
 *
 * All errors of the endpoint are `EndpointError`, also those within the answer.
 */
export async function endpointModel(endpoint: Endpoint, provider: string): Promise<LanguageModel> {
  // The provider's code takes 30 ms to load, and only a chat with such a model needs it.
  const { OpenAICompatibleChatLanguageModel } = await import("#openai-compatible");
  const { href, key, model: modelId } = endpoint;
  const model = new OpenAICompatibleChatLanguageModel(modelId, {
    // The part before the dot is the name under which a provider keeps data in messages.
    provider: endpoint.provider ? `${provider}.chat` : "custom.chat",
    url: ({ path }) => href + path,
    headers: () => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
    fetch: endpointFetch(endpoint),
    includeUsage: true,
    // Newer models of OpenAI reject `max_tokens`, and all accept the other name.
    ...(provider === "openai" && endpoint.provider && { transformRequestBody: withNewLimit }),
  });
  return {
    specificationVersion: "v3",
    provider,
    modelId,
    async doStream(options) {
      const { stream, ...rest } = await model.doStream(options);
      return { ...rest, stream: withEndpointErrors(stream, endpoint) };
    },
  };
}

function withNewLimit({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return limit === undefined ? body : { ...body, max_completion_tokens: limit };
}

/** Returns the stream with the errors of the endpoint as `EndpointError`. A cancelled stream closes the connection. */
function withEndpointErrors(stream: ReadableStream<unknown>, endpoint: Endpoint): ReadableStream<unknown> {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else if (!isObject(value) || value.type !== "error") controller.enqueue(value);
        else controller.enqueue({ ...value, error: streamError(endpoint, value.error) });
      } catch (error) {
        controller.error(isAbort(error) || error instanceof EndpointError ? error : connectionError(endpoint, error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
