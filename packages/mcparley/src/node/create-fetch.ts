import { sendingFor } from "#default-send";
import type { HttpReply } from "../http/client/reply.ts";
import type { HttpConnection } from "../http/client/settings.ts";

/**
 * Returns a `fetch` that uses the proxy and the certificates as requests to servers do. Default: the proxy of the environment
 * (`HTTPS_PROXY`, `NO_PROXY`) and the certificate authorities of Node, also on Node 20, whose own `fetch` uses no proxy.
 *
 * Pass it to code that sends its own requests, such as the provider of a language model. It follows no redirect: the response is returned,
 * as with `redirect: "manual"`. It has no time limit for a reply, because models can think for minutes. Errors contain no password of a
 * proxy.
 *
 * @example
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
 * import { createFetch } from "mcparley/node";
 *
 * const fetch = createFetch();
 * export const model = createOpenAICompatible({ name: "llm", baseURL: "https://llm.corp.example/v1", fetch })("qwen3");
 * ```
 */
export function createFetch(connection?: HttpConnection): typeof fetch {
  const { send } = sendingFor({ url: "", connection });
  return async (input, init) => {
    const request = new Request(input, init);
    const { url, method, headers } = request;
    // The signal of a `Request` follows the given one only until the request is collected as garbage.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
    const reply = await send(new URL(url), {
      method,
      headers: Object.fromEntries(headers),
      redirect: "manual",
      ...(body && { body }),
      ...(signal && { signal }),
    });
    return reply instanceof Response ? reply : toResponse(reply);
  };
}

function toResponse({ body, status, statusText, headers }: HttpReply): Response {
  const reader = body?.getReader();
  const stream =
    reader &&
    new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  return new Response(stream ?? null, { status, statusText, headers: [...headers.entries()] });
}
