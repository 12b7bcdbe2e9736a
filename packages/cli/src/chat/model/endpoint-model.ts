import type { LanguageModel } from "@mcparley/host";
import { createFetch } from "mcparley/node";
import { isObject } from "@mcparley/internal/is-object";
import { type Endpoint, EndpointError, connectionError, replyError, streamError } from "./endpoint-error.ts";

type PromptMessage = Parameters<
  Extract<LanguageModel, { specificationVersion: "v3" }>["doStream"]
>[0]["prompt"][number];

/**
 * Returns the model of an endpoint in the format of OpenAI's chat completions. `provider` is its name in errors. `send` sends its
 * requests.
 *
 * All errors of the endpoint are `EndpointError`, also those within the answer.
 */
export async function endpointModel(
  endpoint: Endpoint,
  provider: string,
  send = createFetch(),
): Promise<LanguageModel> {
  // The provider's code takes 30 ms to load, and only a chat with such a model needs it.
  const { OpenAICompatibleChatLanguageModel } = await import("#openai-compatible");
  const { href, key, model: modelId } = endpoint;
  const model = new OpenAICompatibleChatLanguageModel(modelId, {
    // The part before the dot is the name under which a provider keeps data in messages.
    provider: endpoint.provider ? `${provider}.chat` : "custom.chat",
    url: ({ path }) => href + path,
    headers: () => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
    fetch: endpointFetch(endpoint, send),
    includeUsage: true,
    // Newer models of OpenAI reject `max_tokens`, and all accept the other name.
    ...(provider === "openai" &&
      endpoint.provider && {
        transformRequestBody: ({ max_tokens: limit, ...body }: Record<string, unknown>) =>
          limit === undefined ? body : { ...body, max_completion_tokens: limit },
      }),
  });
  return {
    specificationVersion: "v3",
    provider,
    modelId,
    async doStream({ prompt, ...options }) {
      const { stream, ...result } = await model.doStream({ ...options, prompt: prompt.map(withOneText) });
      return { ...result, stream: withEndpointErrors(stream, endpoint) };
    },
  };
}

/** Joins the texts of a message of the user without files. Endpoints whose model reads no files can refuse a list of parts. */
function withOneText(message: PromptMessage): PromptMessage {
  if (message.role !== "user") return message;
  const texts = message.content.flatMap((part) => (part.type === "text" ? part.text : []));
  const isText = texts.length > 1 && texts.length === message.content.length;
  return isText ? { ...message, content: [{ type: "text", text: texts.join("\n\n") }] } : message;
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
        const isAbort = error instanceof Error && error.name === "AbortError";
        controller.error(isAbort || error instanceof EndpointError ? error : connectionError(endpoint, error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Maximum number of bytes that are read of a reply that is not an answer. */
const maxErrorBytes = 64 * 1024;

/**
 * Returns a `fetch` for the requests of a model. It sends them to the origin of the endpoint only, and follows no redirect,
 * so that the key and the conversation reach nobody else.
 *
 * It rejects with `EndpointError` for each reply that is not an answer of the model. If an endpoint refuses the option
 * `stream_options`, the request is repeated without it, and later ones are sent without it.
 */
export function endpointFetch(endpoint: Endpoint, send = createFetch()): typeof fetch {
  let refusesUsage = false;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== endpoint.origin) {
      throw new EndpointError(`A request to ${url.origin} was refused. The model may only use ${endpoint.origin}.`);
    }
    let request = refusesUsage ? withoutUsage(init) : init;
    for (;;) {
      const response = await send(url, request).catch((error: unknown) => {
        throw init.signal?.aborted ? error : connectionError(endpoint, error);
      });
      // Some endpoints send no content type, or that of plain text.
      const isAnswer = response.ok && !/\b(?:html|json)\b/i.test(response.headers.get("content-type") ?? "");
      if (isAnswer) return response;
      const text = await startOf(response);
      const isUsageRefused = (response.status === 400 || response.status === 422) && text.includes("stream_options");
      const retry = isUsageRefused ? withoutUsage(request) : request;
      if (retry === request) throw replyError(endpoint, response, text);
      refusesUsage = true;
      request = retry;
    }
  };
}

/** Returns the start of a body. A body that cannot be read is as good as an empty one. */
async function startOf({ body }: Response): Promise<string> {
  if (!body) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (let next = await reader.read(); !next.done && bytes < maxErrorBytes; next = await reader.read()) {
      chunks.push(next.value);
      bytes += next.value.length;
    }
  } catch {
    // The status explains the failure.
  } finally {
    void reader.cancel().catch(() => {});
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString("utf8");
}

/** Returns a request without the option for the number of tokens, or the same request if it has none. */
function withoutUsage(init: RequestInit): RequestInit {
  if (typeof init.body !== "string") return init;
  const { stream_options: options, ...body } = JSON.parse(init.body) as Record<string, unknown>;
  return options === undefined ? init : { ...init, body: JSON.stringify(body) };
}
