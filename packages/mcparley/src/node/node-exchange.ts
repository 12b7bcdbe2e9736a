import type { IncomingMessage, ServerResponse } from "node:http";
import type { Exchange, ResponseHeaders, ResponseStream } from "../http/exchange.ts";
import { readBody } from "./read-body.ts";

/** A request whose body a framework may have read: Express and others leave it in `body`. */
export type NodeRequest = IncomingMessage & { body?: unknown };

/** An exchange on node:http, without web `Request` and `Response` in between. */
export class NodeExchange implements Exchange {
  readonly #request: NodeRequest;
  readonly #response: ServerResponse;
  #extra: ResponseHeaders | undefined;

  constructor(request: NodeRequest, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get path(): string {
    const url = this.#request.url ?? "/";
    const query = url.indexOf("?");
    return query === -1 ? url : url.slice(0, query);
  }

  get secure(): boolean {
    return "encrypted" in this.#request.socket;
  }

  get parsedBody(): unknown {
    const { body, readableEnded } = this.#request;
    // Some frameworks set an empty body on a request that they left unread.
    return readableEnded && typeof body !== "string" && !(body instanceof Uint8Array) ? body : undefined;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  header(name: string): string | undefined {
    // Only `set-cookie`, which no client sends, is a list.
    return this.#request.headers[name] as string | undefined;
  }

  readText(limit: number): Promise<string> {
    return readBody(this.#request, limit);
  }

  decorate(headers: ResponseHeaders): void {
    this.#extra = { ...this.#extra, ...headers };
  }

  respond(status: number, headers: ResponseHeaders, body?: string): void {
    const response = this.#response;
    if (response.headersSent) {
      // Too late to say it: the client must at least not take what it has for the whole.
      response.destroy();
      return;
    }
    const all = { ...headers, ...this.#extra };
    if (status !== 204) all["content-length"] = body === undefined ? "0" : String(Buffer.byteLength(body));
    response.writeHead(status, all).end(body);
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    const response = this.#response;
    response.writeHead(status, { ...headers, ...this.#extra });
    response.flushHeaders();
    return {
      get backlog() {
        return response.writableLength;
      },
      write: (chunk) => void (response.destroyed || response.write(chunk)),
      end: () => void response.end(),
      destroy: () => void response.destroy(),
    };
  }

  onGone(listener: () => void): void {
    const response = this.#response;
    response.on("close", () => {
      if (!response.writableFinished) listener();
    });
  }
}
