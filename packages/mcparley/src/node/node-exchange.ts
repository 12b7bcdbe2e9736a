import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import type { BodyReader, Exchange, Held, ResponseHeaders, ResponseStream } from "../http/exchange.ts";
import { LocalError } from "../rpc/errors.ts";
import { networkOf } from "../net/ip-address.ts";
import { readBody } from "./read-body.ts";

/** A request whose body a framework may have read: Express and others leave it in `body`. */
export type NodeRequest = IncomingMessage & { body?: unknown };

/** The network of each connection, so that it is calculated once. */
const networks = new WeakMap<object, string>();

/** An exchange on node:http, without web `Request` and `Response` in between. */
export class NodeExchange implements Exchange {
  held: Held | undefined;
  readonly #request: NodeRequest;
  readonly #headers: IncomingHttpHeaders;
  readonly #response: ServerResponse;
  #extra: ResponseHeaders | undefined;
  #reader: BodyReader | undefined;
  #onGone: (() => void) | undefined;

  constructor(request: NodeRequest, response: ServerResponse) {
    this.#request = request;
    this.#headers = request.headers;
    this.#response = response;
    // The one event that follows every end, also that of a client which goes away in the middle of its request.
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
    // Some frameworks set an empty body on a request that they left unread.
    return readableEnded && typeof body !== "string" && !(body instanceof Uint8Array) ? body : undefined;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  header(name: string): string | undefined {
    // Only `set-cookie`, which no client sends, is a list.
    return this.#headers[name] as string | undefined;
  }

  readText(limit: number, reader: BodyReader): void {
    this.#reader = reader;
    readBody(this.#request, limit, reader);
  }

  decorate(headers: ResponseHeaders): void {
    this.#extra = this.#extra ? { ...this.#extra, ...headers } : headers;
  }

  respond(status: number, headers: ResponseHeaders, body?: string, rest?: Uint8Array): void {
    const response = this.#response;
    if (response.headersSent) {
      // Too late to say it: the client must at least not take what it has for the whole.
      response.destroy();
      return;
    }
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    response.writeHead(status, this.#headersOf(status, headers, length + (rest?.length ?? 0)));
    if (!body) return this.#finish();
    // Head and body are one write that way; `end(body)` would add an empty one, and gather the two. What is all ASCII is
    // copied as it is, where UTF-8 would be made of each character once more.
    response.write(body, length === body.length ? "latin1" : "utf8");
    if (rest) response.write(rest);
    process.nextTick(() => this.#finish());
  }

  /** Names and values in turn: a copy of an object of them would take as long as all the rest of an answer. */
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
    // The head leaves with what is said in the same turn, in one write, or by itself where that is nothing.
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
    this.#reader?.reject(new LocalError("closed", "The client went away before the end of its request."));
    this.#onGone?.();
  }
}
