import type { ReceivedPart } from "../../client/connect/transports.ts";

/** The headers of a reply. Names are not case-sensitive. */
export interface ReplyHeaders {
  get(name: string): string | null;
  has(name: string): boolean;
  /** Returns the names and values. A header that may be repeated has an entry for each value. */
  entries(): Iterable<[name: string, value: string]>;
}

/** Reads the body of a reply in parts, in the order of arrival. */
export interface ReplyReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
  releaseLock(): void;
}

/** The body of a reply, decoded. It is read once. */
export interface ReplyBody {
  getReader(): ReplyReader;
  /** Ends the reply without reading it. */
  cancel(reason?: unknown): Promise<void>;
}

/** The reply of a server: the part of a `Response` that the client uses. On Node it is made without a `Response`. */
export interface HttpReply {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly type?: string;
  readonly headers: ReplyHeaders;
  readonly body: ReplyBody | null;
  text(): Promise<string>;
}

/** The settings of a request. `fetch` ignores `waits` and `onReceived`. */
export interface SendInit extends RequestInit {
  /** Called if the request waits for a free connection. The returned function is called when it is sent. */
  waits?: () => () => void;
  /** Called for each part of the reply that arrives. */
  onReceived?: ((received: ReceivedPart) => void) | undefined;
}

/** Sends one request. Like `fetch` without redirects. */
export interface Send {
  (this: void, url: URL, init: SendInit): Promise<HttpReply>;
  /**
   * Waits until a request to this origin that is sent at once does not wait for a connection. Rejects if the signal is
   * aborted, and after a time limit. Undefined if requests never wait.
   */
  turn?(this: void, url: URL, signal: AbortSignal | undefined): Promise<void>;
}

/** The functions that send the requests to a target. */
export interface Sending {
  readonly send: Send;
  /** Makes a controller whose signal `send` accepts. */
  readonly createController: () => AbortController;
}
