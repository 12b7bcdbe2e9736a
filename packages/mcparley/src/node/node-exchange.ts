import type { IncomingHttpHeaders, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type {
  HttpExchange,
  Held,
  ReadLimits,
  ReplyReaders,
  RequestOptions,
  ResponseBody,
  ResponseHeaders,
  ResponseStream,
  UnreadBody,
} from "../http/exchange.ts";
import { networkOf } from "../net/ip-address.ts";
import type { Bytes } from "../rpc/base64.ts";
import type { Principal } from "../server/core/context.ts";
import { BodyWriter, SLICE } from "./body-writer.ts";
import { type NodeRequest, clientClosed, isText, readBody } from "./read-body.ts";

/**
 * A response. Middleware that compresses responses adds `flush`, as `compression` of Express does. A response of HTTP/2
 * has `stream`, and no `destroyed`.
 */
export type NodeResponse = ServerResponse & { flush?: () => void; stream?: { readonly destroyed: boolean } };

const none: RequestOptions = Object.freeze({});

/** The headers that decide about a request. Node ignores all of their values except the first one. */
const reducedHeaders: ReadonlySet<string> = new Set(["authorization", "content-type", "host"]);

/** Unread bytes of a stream from which on it is noted. Fewer bytes wait for most clients until the end of the turn. */
const smallBacklog = 16_384;

/** The network of each connection, calculated once. */
const networks = new WeakMap<object, string>();

/** An exchange on `node:http`. It does not use the web classes `Request` and `Response`, which are slower. */
export class NodeExchange implements HttpExchange, UnreadBody {
  held: Held | undefined;
  readers: ReplyReaders | undefined;
  caller = "";
  abortBody: ((error: Error) => void) | undefined;
  readonly #request: NodeRequest;
  readonly #headers: IncomingHttpHeaders;
  readonly #response: NodeResponse;
  readonly #options: RequestOptions;
  #extra: ResponseHeaders | undefined;
  #onGone: (() => void) | undefined;
  #writer: BodyWriter | undefined;
  /** The accepted writes, and the bytes in the queue of the operating system's socket, at the last call of `hasRead`. */
  #acceptedWrites = 0;
  #queueSize = Infinity;

  constructor(request: NodeRequest, response: NodeResponse, options: RequestOptions = none) {
    this.#options = options;
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

  get principal(): Principal | undefined {
    return this.#options.principal ?? undefined;
  }

  get givenBody(): unknown {
    return this.#options.body;
  }

  get parsedBody(): unknown {
    const frameworkBody = this.#options.body;
    if (frameworkBody !== undefined) return isText(frameworkBody) ? undefined : frameworkBody;
    const { body, readableEnded } = this.#request;
    // Some frameworks set an empty body on a request that they have not read.
    return readableEnded && !isText(body) ? body : undefined;
  }

  get closed(): boolean {
    return isDestroyed(this.#response) || this.#response.writableEnded;
  }

  header(name: string): string | undefined {
    // HTTP/2 has `:authority`, which overrides `host` (RFC 9113 section 8.3.1). HTTP/1 cannot have a header of this name.
    if (name === "host" && ":authority" in this.#headers) return this.#headers[":authority"] as string;
    // Only `set-cookie` is an array, and clients do not send it.
    const value = this.#headers[name] as string | undefined;
    return value !== undefined && reducedHeaders.has(name) ? this.#allValues(name) : value;
  }

  /** Returns the values of a header, joined as Node joins other headers. A proxy may have checked a value that is not the first. */
  #allValues(name: string): string {
    // Adapters of serverless platforms have no list of headers.
    const { rawHeaders = [] } = this.#request as Partial<NodeRequest>;
    const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
    return values.length > 1 ? values.join(", ") : (this.#headers[name] as string);
  }

  readText(limits: ReadLimits): Promise<string> {
    return readBody(this.#request, limits, this);
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
    const isText = typeof body === "string";
    const length = isText ? Buffer.byteLength(body) : body.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const list = this.#headersOf(status, headers, length);
    // Middleware that replaces `writeHead`, such as `compression` and `morgan`, may not know lists (on-headers before 1.1).
    response.writeHead(status, Object.hasOwn(response, "writeHead") ? toObject(list) : list);
    if (length === 0) return this.#finish();
    if (length > SLICE) return this.#writeLarge(isText ? [body] : body);
    // Head and body are sent in one write; `end(body)` would add an empty one. A body of ASCII characters only is copied as
    // latin1, which is faster than UTF-8.
    if (isText) response.write(body, length === body.length ? "latin1" : "utf8");
    else for (const part of body) response.write(part);
    process.nextTick(() => this.#finish());
  }

  #writeLarge(parts: readonly (string | Bytes)[]): void {
    const writer = new BodyWriter(this.#response, { socket: this.#request.socket, flushes: false });
    this.#writer = writer;
    for (const part of parts) writer.write(part);
    writer.whenWritten(() => this.#finish());
    this.#noteUnread();
  }

  get unread(): number {
    return this.#writer?.unread ?? this.#response.writableLength;
  }

  get backlog(): number {
    return this.#writer?.backlog ?? 0;
  }

  hasRead(): boolean {
    // Only Node has this count of the bytes of a write that the operating system has not accepted. All streams of HTTP/2 share it.
    const { _handle: handle } = this.#request.socket as { _handle?: { writeQueueSize?: number } | null };
    const queueSize = (!this.#response.stream && handle?.writeQueueSize) || 0;
    const acceptedWrites = this.#writer?.acceptedWrites ?? 0;
    const isRead = acceptedWrites > this.#acceptedWrites || queueSize < this.#queueSize;
    this.#queueSize = queueSize;
    this.#acceptedWrites = acceptedWrites;
    return isRead;
  }

  destroy(): void {
    this.#response.destroy();
  }

  /** Notes that the client has not read what was written. A client that has disconnected reads nothing any more. */
  #noteUnread(): void {
    if (this.unread > 0 && !isDestroyed(this.#response)) this.readers?.note(this, this.caller);
  }

  /** Returns an array in which each name is followed by its value. A copy of the object would take as long as all other steps. */
  #headersOf(status: number, headers: ResponseHeaders, length: number): OutgoingHttpHeader[] {
    const list: OutgoingHttpHeader[] = [];
    // HTTP/2 has no `connection` header, and Node would print a warning.
    const omittedName = this.#response.stream ? "connection" : undefined;
    for (const name in headers) if (name !== omittedName) list.push(name, headers[name] as string);
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
      if (!isBegun && !isDestroyed(response)) response.flushHeaders();
    });
    const writer = new BodyWriter(response, { socket: this.#request.socket, flushes: true });
    this.#writer = writer;
    return {
      write: (chunk) => {
        isBegun = true;
        if (isDestroyed(response)) return;
        writer.write(chunk);
        // Node writes at the end of the turn, so small events always wait.
        if (this.unread >= smallBacklog) this.#noteUnread();
      },
      end: () => {
        isBegun = true;
        writer.whenWritten(() => this.#finish());
      },
      destroy: () => void response.destroy(),
    };
  }

  /**
   * Ends the response, and releases its memory at once if all of it was written to the operating system. Otherwise the
   * `close` event releases it, which adapters of serverless platforms do not emit.
   */
  #finish(): void {
    const response = this.#response;
    response.end();
    if (!response.writableLength) this.held?.release();
    else this.#noteUnread();
  }

  onGone(listener: () => void): void {
    this.#onGone = listener;
    if (this.#response.closed || this.#response.stream?.destroyed) this.#closed();
  }

  #closed(): void {
    this.held?.release();
    this.readers?.remove(this);
    // A response of HTTP/2 that was reset counts as finished, although it was not ended.
    if (this.#response.writableEnded && this.#response.writableFinished) return;
    this.abortBody?.(clientClosed());
    this.#onGone?.();
  }
}

function isDestroyed({ destroyed, stream }: NodeResponse): boolean {
  return stream ? stream.destroyed : destroyed;
}

function toObject(list: readonly OutgoingHttpHeader[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (let index = 0; index < list.length; index += 2) headers[String(list[index])] = list[index + 1];
  return headers;
}
