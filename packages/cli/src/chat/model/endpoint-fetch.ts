import type { Endpoint } from "./endpoint.ts";
import { EndpointError, connectionError, redirectError, replyError } from "./endpoint-error.ts";

/** Maximum number of bytes that are read of a reply that is not an answer. */
const maxErrorBytes = 64 * 1024;

/**
 * Returns a `fetch` for the requests of a model. It sends them to the origin of the endpoint only, and follows no redirect,
 * so that the key and the conversation reach nobody else.
 *
 * It rejects with `EndpointError` for each reply that is not an answer of the model. If an endpoint refuses the option
 * `stream_options`, the request is repeated without it, and later ones are sent without it.
 */
export function endpointFetch(endpoint: Endpoint): typeof globalThis.fetch {
  let refusesUsage = false;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== endpoint.origin) {
      throw new EndpointError(`A request to ${url.origin} was refused. The model may only use ${endpoint.origin}.`);
    }
    const response = await send(endpoint, url, refusesUsage ? withoutUsage(init) : init);
    if (isAnswer(response)) return response;
    const text = await startOf(response);
    const isRefused = (response.status === 400 || response.status === 422) && text.includes("stream_options");
    if (isRefused && !refusesUsage && withoutUsage(init) !== init) {
      refusesUsage = true;
      const second = await send(endpoint, url, withoutUsage(init));
      if (isAnswer(second)) return second;
      throw failure(endpoint, second, await startOf(second));
    }
    throw failure(endpoint, response, text);
  };
}

async function send(endpoint: Endpoint, url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: "manual" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw connectionError(endpoint, error);
  }
}

/** Returns whether a reply can be a stream of events. Some endpoints send no content type, or that of plain text. */
function isAnswer({ ok, headers }: Response): boolean {
  return ok && !/\b(?:html|json)\b/i.test(headers.get("content-type") ?? "");
}

function failure(endpoint: Endpoint, { status, headers }: Response, text: string): EndpointError {
  if (status >= 300 && status < 400) return redirectError(endpoint, status, headers.get("location"));
  return replyError(endpoint, { status, headers, text });
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
