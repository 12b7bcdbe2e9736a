import type { RequestId } from "../rpc/messages.ts";

/** What is known of an HTTP request before its body is read. */
export interface RequestHead {
  /** `POST`, in capitals. */
  readonly method: string;
  /** The path of the URL, without its query. */
  readonly path: string;
  /** The query of the URL, without its question mark; empty where there is none. */
  readonly query: string;
  /** Whether the request came over TLS to this process, so that a certificate has vouched for the name in `Host`. */
  readonly secure: boolean;
  /** The value of a header, whose name is given in lower case; several values are joined by commas. */
  header(name: string): string | undefined;
}

/** Where a request comes from, if the runtime or a trusted proxy tells. */
interface RequestSource {
  /** The IP address of the client. */
  readonly address: string | undefined;
  /** The address, or the /64 prefix of an IPv6 address: what the shares of anonymous callers are counted by. */
  readonly network: string | undefined;
}

/** The share of a request in the limits of its endpoint. */
export interface Held {
  /** Counts the bytes of the body that have arrived. Returns an error if they are more than the caller's share. */
  grow(bytes: number): Error | undefined;
  /** Counts the request among those that are answered. Throws 429 if its caller has too many. */
  answer(id: RequestId | undefined): void;
  /** Returns the share. A second call does nothing. */
  release(): void;
}

/** Headers of a response, by their names. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** The body of a response: text, or text followed by bytes that were encoded before. */
export type ResponseBody = string | { readonly text: string; readonly rest: Uint8Array<ArrayBuffer> };

/** The limits of reading one body. */
export interface ReadLimits {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Starts the timeout of a body that has not arrived as a whole. Returns a function that stops it. */
  startTimeout(this: void, onTimeout: (error: Error) => void): () => void;
}

/**
 * One HTTP request and its response, whatever the runtime: what an adapter implements and the endpoint uses.
 *
 * The endpoint calls `respond` once, or `stream` once, and never both.
 */
export interface Exchange extends RequestHead, RequestSource {
  /** The body as a framework has parsed it already; undefined where it has not been read. */
  readonly parsedBody: unknown;
  /** Released by the adapter when the response has been sent, or the client is gone. */
  held: Held | undefined;
  /** Whether the client is gone, or everything has been sent: then nothing that is written arrives. */
  readonly closed: boolean;
  /**
   * Reads the whole body as text.
   *
   * Rejects with an `HttpRefusal`: 413 if it is larger than the limit, 408 if it takes too long, 429 if the caller has too
   * many bytes in flight, 400 if it is not UTF-8. Rejects with a `LocalError` `closed` if the client disconnects.
   */
  readText(limits: ReadLimits): Promise<string>;
  /** Adds headers to whatever will be answered. */
  decorate(headers: ResponseHeaders): void;
  /** Sends a whole response. */
  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void;
  /** Sends the head of a response now and its body piece by piece. */
  stream(status: number, headers: ResponseHeaders): ResponseStream;
  /**
   * Calls `listener` once if the client goes away before its response has been sent whole; at once if it has gone
   * already. At most one listener.
   */
  onGone(listener: () => void): void;
}

/** The body of a response that is sent piece by piece. Writing to a client that is gone does nothing. */
export interface ResponseStream {
  /** Bytes that were written and that the client has not taken yet. */
  readonly backlog: number;
  write(chunk: string): void;
  end(): void;
  /** Breaks the connection off, so that the client can tell that the response is not whole. */
  destroy(): void;
}
