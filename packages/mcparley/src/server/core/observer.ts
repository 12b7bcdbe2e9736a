import type { RequestId } from "../../rpc/messages.ts";
import type { CallObserver, ObservedCall } from "../../mcp/observe.ts";
import type { Peer, Principal } from "./context.ts";

/** A call that a server received. */
export interface ServerCall extends ObservedCall {
  readonly side: "server";
  /** The id of the request. Unique only among the open requests of its client. */
  readonly id: RequestId;
  /**
   * Whether the method exists, and the tool or prompt that the call names. If false, do not use the method or name as the
   * name of a metric or span: clients can send any number of different names.
   */
  readonly known: boolean;
  /** The client, as it describes itself. Not verified. */
  readonly peer: Peer;
  /** The verified caller. Undefined if the server does not require credentials. */
  readonly principal: Principal | undefined;
  /** The request's `_meta`, which can carry trace context. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The type of each of the first 50 arguments: `{ query: "string", limit: "number" }`. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** A request that was rejected before it became a call, for its credentials, its headers or its form. */
export interface RejectedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The JSON-RPC method, or the method and path of an HTTP request: `POST /mcp`. */
  readonly what: string;
  /** The verified caller. Undefined if the request had no valid credentials. */
  readonly principal: Principal | undefined;
  /** HTTP status. Undefined if the request did not come over HTTP. */
  readonly status: number | undefined;
  /** JSON-RPC code of the response. */
  readonly code: number | undefined;
  /** The reason, as the client received it, with secrets redacted. */
  readonly reason: string;
}

/** A session of a legacy revision that ended. */
export interface SessionEnd {
  /** Milliseconds from the start of the session to its end. */
  readonly durationMs: number;
  /** The protocol revision of the session. */
  readonly revision: string;
  /** The reason of the end, as text for a log. */
  readonly reason: string;
}

/**
 * Receives the events of a server, for traces, metrics, logs or an audit. Each member is optional.
 *
 * If an observer throws, the error goes to the server's `onError` and changes no response.
 *
 * @example
 * ```ts
 * import { type ServerObserver, createServer } from "mcparley/server";
 *
 * const slowCalls: ServerObserver = {
 *   started: ({ method, name }) => ({
 *     ended: ({ durationMs }) => {
 *       if (durationMs > 1_000) console.warn(`${method} ${name} took ${durationMs} ms.`);
 *     },
 *   }),
 * };
 * const server = createServer({ name: "hello", version: "1.0.0", observers: [slowCalls] });
 * ```
 */
export interface ServerObserver extends CallObserver<ServerCall> {
  /** Called when a request was rejected before a call started. */
  refused?(refusal: RejectedRequest): void;
  /** Called when a session of a legacy revision ended. */
  sessionEnded?(end: SessionEnd): void;
  /**
   * Receives each error that is hidden from the client. A server with such an observer does not write errors to the
   * console.
   */
  failed?(error: unknown, call: { readonly method: string; readonly id: RequestId } | undefined): void;
}

/** The error of a request that was rejected: a `ProtocolError` or an `HttpRefusal`. */
export interface RefusalError {
  readonly message: string;
  readonly status?: number | undefined;
  /** The JSON-RPC code of a `ProtocolError`. An `HttpRefusal` has it in `options`. */
  readonly code?: number;
  readonly options?: { readonly code?: number };
}
