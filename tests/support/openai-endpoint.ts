import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** An endpoint on loopback that answers in the format of OpenAI's chat completions, for tests. */
export interface OpenAiEndpoint {
  /** The URL for the option `baseURL` of a provider. */
  readonly url: string;
  readonly requests: readonly { readonly headers: IncomingHttpHeaders; readonly body: unknown }[];
  /** Resolves when the connection of a hanging reply was closed by the client. */
  readonly disconnected: Promise<void>;
  close(this: void): Promise<void>;
}

/**
 * An answer of the endpoint: a status with a body, or a stream of chunks. `hang` keeps the stream open, `reset` breaks the connection, and
 * `end` ends the stream without its last event.
 */
export type EndpointReply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body: object }
  | { readonly chunks: readonly (object | "hang" | "reset" | "end")[] }
  | "reset";

/** Starts an endpoint that answers each request with the next reply. */
export async function openAiEndpoint(replies: readonly EndpointReply[]): Promise<OpenAiEndpoint> {
  const requests: { headers: IncomingHttpHeaders; body: unknown }[] = [];
  let disconnect!: () => void;
  const disconnected = new Promise<void>((resolve) => (disconnect = resolve));
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push({ headers: request.headers, body: JSON.parse(body) as unknown });
      const reply = replies[requests.length - 1];
      send(response, reply ?? { status: 500, body: { error: { message: "The script has ended." } } }, disconnect);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    disconnected,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function send(response: ServerResponse, reply: EndpointReply, disconnect: () => void): void {
  if (reply === "reset") {
    response.socket?.resetAndDestroy();
    return;
  }
  if (!("chunks" in reply)) {
    const headers = { "content-type": "application/json", ...reply.headers };
    response.writeHead(reply.status, headers).end(JSON.stringify(reply.body));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of reply.chunks) {
    if (chunk === "hang") {
      response.on("close", disconnect);
      return;
    }
    if (chunk === "reset") {
      // The chunks before it arrive first.
      setImmediate(() => response.socket?.resetAndDestroy());
      return;
    }
    if (chunk === "end") {
      response.end();
      return;
    }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

/** Returns a chunk of a streamed answer. */
export function chunk(delta: object, finishReason: string | null = null): object {
  return { id: "1", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** Returns the last chunk of an answer, with the tokens. */
export function usageChunk(input: number, output: number): object {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  return { id: "1", created: 1, model: "m", choices: [], usage };
}
