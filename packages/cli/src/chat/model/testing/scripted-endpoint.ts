import { once } from "node:events";
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { LanguageModel } from "@mcparley/host";
import { onTestFinished } from "vitest";

/** An endpoint on loopback that answers with a script. */
export interface ScriptedEndpoint {
  /** The base URL. */
  readonly url: string;
  readonly origin: string;
  readonly requests: readonly {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: Record<string, unknown>;
  }[];
}

/** A reply: chunks of a stream, or a status with headers and a text. `cut` closes the connection within the stream. */
export type ScriptedReply =
  | { readonly chunks: readonly (object | "cut")[] }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly text?: string };

/** Starts an endpoint that answers each request with the next reply, and the last one again. It is closed after the test. */
export async function scriptedEndpoint(...replies: readonly ScriptedReply[]): Promise<ScriptedEndpoint> {
  const requests: { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url = "", headers } = request;
      requests.push({ path: url, headers, body: JSON.parse(body || "{}") as Record<string, unknown> });
      send(response, replies[Math.min(requests.length, replies.length) - 1] ?? { status: 500 });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, url: `${origin}/v1`, requests };
}

function send(response: ServerResponse, reply: ScriptedReply): void {
  if (!("chunks" in reply)) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(reply.text);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of reply.chunks) {
    if (chunk === "cut") {
      response.socket?.end();
      return;
    }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

/** Returns a chunk of a streamed answer. */
export function chunk(delta: object, reason: string | null = null): object {
  return { id: "1", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] };
}

/** The answer "Hello." with its usage. */
export const hello: ScriptedReply = {
  chunks: [
    chunk({ content: "Hel" }),
    chunk({ content: "lo." }),
    chunk({}, "stop"),
    { id: "1", choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
  ],
};

/** A part of a model's stream, with the members that the tests read. */
export interface StreamedPart {
  readonly type: string;
  readonly delta?: string;
  readonly error?: unknown;
  readonly toolName?: string;
  readonly input?: string;
  readonly usage?: { readonly inputTokens: { readonly total: number } };
}

/** Sends a question to a model, and returns the parts of its answer. */
export async function ask(model: LanguageModel, options: { maxOutputTokens?: number } = {}): Promise<StreamedPart[]> {
  const question = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello?" }] }];
  const { stream } =
    model.specificationVersion === "v3"
      ? await model.doStream({ prompt: question, ...options })
      : await model.doStream({ prompt: question, ...options });
  const parts: StreamedPart[] = [];
  for await (const part of stream as ReadableStream<StreamedPart>) parts.push(part);
  return parts;
}

/** Returns the text of an answer. */
export function textOf(parts: readonly StreamedPart[]): string {
  return parts.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");
}
