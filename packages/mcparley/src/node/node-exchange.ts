import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import type { Exchange, Held, ReadLimits, ResponseBody, ResponseHeaders, ResponseStream } from "../http/exchange.ts";
import { networkOf } from "../net/ip-address.ts";
import { clientClosed, readBody } from "./read-body.ts";

/** A request. Express and other frameworks put a body that they have parsed in `body`. */
export type NodeRequest = IncomingMessage & { body?: unknown };

/** The network of each connection, calculated once. */
const networks = new WeakMap<object, string>();

/** An exchange on `node:http`. It does not use the web classes `Request` and `Response`, which are slower. */
export class NodeExchange implements Exchange {
  held: Held | undefined;
  readonly #request: NodeRequest;
  readonly #headers: IncomingHttpHeaders;
  readonly #response: ServerResponse;
  #extra: ResponseHeaders | undefined;
  #abortBody: ((error: Error) => void) | undefined;
  #onGone: (() => void) | undefined;

  constructor(request: NodeRequest, response: ServerResponse) {
    this.#request = request;
    this.#headers = request.headers;
    this.#response = response;
    // Emitted after every end, even if the client disconnects during its request.
    response.on("close", () => this.#closed());
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get path(): string {
    const url = this.#request.url ?? "/";
    const query = url.indexOf("?");
    return query === -1 ? url : url.slice(0, query);
  }

  get query(): string {
    const url = this.#request.url ?? "/";
    const query = url.indexOf("?");
    return query === -1 ? "" : url.slice(query + 1);
  }

  get secure(): boolean {
    return "encrypted" in this.#request.socket;
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  get network(): string | undefined {
    const { socket } = this.#request;
    let network = networks.get(socket);
    if (network === undefined && socket.remoteAddress !== undefined) {
      network = networkOf(socket.remoteAddress);
      networks.set(socket, network);
    }
    return network;
  }

  get parsedBody(): unknown {
    const { body, readableEnded } = this.#request;
    // Some frameworks set an empty body on a request that they have not read.
    return readableEnded && typeof body !== "string" && !(body instanceof Uint8Array) ? body : undefined;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  header(name: string): string | undefined {
    // Only `set-cookie` is a list, and clients do not send it.
    return this.#headers[name] as string | undefined;
  }

  readText(limits: ReadLimits): Promise<string> {
    return readBody(this.#request, limits, {
      count: (bytes) => this.held?.grow(bytes),
      onAbort: (abort) => {
        this.#abortBody = abort;
      },
    });
  }

  decorate(headers: ResponseHeaders): void {
    this.#extra = this.#extra ? { ...this.#extra, ...headers } : headers;
  }

  respond(status: number, headers: ResponseHeaders, body: ResponseBody = ""): void {
    const response = this.#response;
    if (response.headersSent) {
      // Too late for another status. Destroying the response lets the client know that it is incomplete.
      response.destroy();
      return;
    }
    const text = typeof body === "string" ? body : body.text;
    const rest = typeof body === "string" ? undefined : body.rest;
    const length = Buffer.byteLength(text);
    response.writeHead(status, this.#headersOf(status, headers, length + (rest?.length ?? 0)));
    if (!text) return this.#finish();
    // This way, head and body are one write; `end(body)` would add an empty one. A body that is all ASCII is copied as
    // latin1, which is faster than UTF-8.
    response.write(text, length === text.length ? "latin1" : "utf8");
    if (rest) response.write(rest);
    process.nextTick(() => this.#finish());
  }

  /** Returns names and values in turn. Copying an object would take as long as the rest of the response. */
  #headersOf(status: number, headers: ResponseHeaders, length: number): OutgoingHttpHeader[] {
    const list: OutgoingHttpHeader[] = [];
    for (const name in headers) list.push(name, headers[name] as string);
    if (status !== 204) list.push("content-length", length);
    for (const name in this.#extra) list.push(name, this.#extra[name] as string);
    return list;
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    const response = this.#response;
    response.writeHead(status, { ...headers, ...this.#extra });
    let isBegun = false;
    // The head is sent together with a chunk that is written in the same turn, otherwise alone.
    process.nextTick(() => {
      if (!isBegun && !response.destroyed) response.flushHeaders();
    });
    return {
      get backlog() {
        return response.writableLength;
      },
      write: (chunk) => {
        isBegun = true;
        if (!response.destroyed) response.write(chunk);
      },
      end: () => {
        isBegun = true;
        this.#finish();
      },
      destroy: () => void response.destroy(),
    };
  }

  /**
   * Ends the response. Its share is returned at once if all of it has left this process, and otherwise with the `close`
   * event, which adapters of serverless platforms do not emit.
   */
  #finish(): void {
    const response = this.#response;
    response.end();
    if (!response.writableLength) this.held?.release();
  }

  onGone(listener: () => void): void {
    this.#onGone = listener;
    if (this.#response.closed) this.#closed();
  }

  #closed(): void {
    this.held?.release();
    if (this.#response.writableFinished) return;
    this.#abortBody?.(clientClosed());
    this.#onGone?.();
  }
}
