import type { Bytes } from "../rpc/base64.ts";
import type { RequestId } from "../rpc/messages.ts";
import type { Principal } from "../server/core/context.ts";

/** The parts of an HTTP request that are known before its body is read. */
export interface HttpRequestHead {
  /** `POST`, in capitals. */
  readonly method: string;
  /** The path of the URL, without its query. */
  readonly path: string;
  /** The query of the URL, without its question mark. Empty if the URL has none. */
  readonly query: string;
  /** Whether the request came over TLS to this process. A certificate then vouches for the name in `Host`. */
  readonly secure: boolean;
  /** Returns the value of a header. `name` is in lower case. Several values are joined by commas. */
  header(name: string): string | undefined;
}

/** The source of a request. Its fields are undefined unless the runtime or a trusted proxy provides them. */
interface RequestSource {
  /** The IP address of the client. */
  readonly address: string | undefined;
  /** The key for the shares of anonymous callers: the IPv4 address, or the /64 prefix of an IPv6 address. */
  readonly network: string | undefined;
}

/** The share of a request in the limits of its endpoint. */
export interface Held {
  /** Counts the bytes of the body that have arrived. Returns an error if they are more than the caller's share. */
  grow(bytes: number): Error | undefined;
  /** Counts the request as being answered. Throws 429 if its caller has too many such requests. */
  answer(id: RequestId | undefined): void;
  /** Releases the share. A second call does nothing. */
  release(): void;
}

/** The body of a response, as its client reads it. */
export interface UnreadBody {
  /** Bytes that were written and that the client has not read. */
  readonly unread: number;
  /** The unread bytes behind the text that is being sent. */
  readonly backlog: number;
  /** Returns whether the client has read since the last call. */
  hasRead(): boolean;
  /** Aborts the connection. */
  destroy(): void;
}

/** Counts the replies that the callers of an endpoint have not read. */
export interface ReplyReaders {
  /** Counts a body that has unread bytes now. May abort its connection, or another one. */
  note(body: UnreadBody, caller: string): void;
  /** Forgets a body. */
  remove(body: UnreadBody): void;
}

/** Headers of a response, by their names. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** The body of a response: text, or parts of it. Some parts may be encoded as bytes. */
export type ResponseBody = string | readonly (string | Bytes)[];

/** Options of one request, from the framework or platform that received it. */
export interface RequestOptions {
  /**
   * The caller that the framework has authenticated. The option `auth` is then not used for this request. Without it, or
   * if it is undefined or null, the request is authenticated by `auth`; if there is no `auth`, the caller is anonymous.
   */
  principal?: Principal | null | undefined;
  /** The body, if the framework has read it: parsed, or as text or bytes. */
  body?: unknown;
}

/** A platform that ends a process when its responses are complete, such as Workers. */
export interface Platform {
  /** Keeps the process alive until the promise settles. */
  waitUntil?(work: Promise<unknown>): void;
}

/** The limits of reading one body. */
export interface ReadLimits {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Starts the timeout of a body that has not arrived as a whole. Returns a function that stops it. */
  startTimeout(this: void, onTimeout: (error: Error) => void): () => void;
}

/**
 * One HTTP request and its response, independent of the runtime. Adapters implement this interface for the endpoint.
 *
 * The endpoint calls `respond` once, or `stream` once, and never both.
 */
export interface HttpExchange extends HttpRequestHead, RequestSource {
  /** The caller that a framework has authenticated. Undefined if there is none. */
  readonly principal?: Principal | undefined;
  /** The body that a framework has parsed. Undefined if the body has not been read. */
  readonly parsedBody: unknown;
  /** The share of the request in the limits of the endpoint. The adapter releases it after the response or a disconnect. */
  held: Held | undefined;
  /** Counts the bodies that clients do not read. Set by the endpoint. */
  readers?: ReplyReaders | undefined;
  /** The key of the caller for the limits of one caller. Set with `readers`. */
  caller?: string;
  /** Whether the client has disconnected or the response is complete. Later writes have no effect. */
  readonly closed: boolean;
  /**
   * Reads the whole body as text.
   *
   * Rejects with an `HttpRefusal`: 413 if it is larger than the limit, 408 if it takes too long, 429 if the caller has too
   * many bytes in flight, 400 if it is not UTF-8. Rejects with a `LocalError` `closed` if the client disconnects.
   */
  readText(limits: ReadLimits): Promise<string>;
  /** Adds headers to the later response. */
  decorate(headers: ResponseHeaders): void;
  /** Sends a whole response. */
  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void;
  /** Sends the head of a response now and its body piece by piece. */
  stream(status: number, headers: ResponseHeaders): ResponseStream;
  /**
   * Calls `listener` once if the client disconnects before its response is complete. Calls it at once if the client has
   * disconnected already. At most one listener.
   */
  onGone(listener: () => void): void;
  /** Keeps the process alive until the promise settles, on platforms that need it. */
  waitUntil?(work: Promise<unknown>): void;
}

/** The body of a response that is sent piece by piece. Writing after the client has disconnected does nothing. */
export interface ResponseStream {
  /** Adds text to the body, encoded as UTF-8. */
  write(chunk: string): void;
  /** Ends the body. */
  end(): void;
  /** Aborts the connection, so that the client can detect an incomplete response. */
  destroy(): void;
}
