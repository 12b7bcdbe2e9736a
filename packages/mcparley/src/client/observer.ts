import type { CallObserver, ObservedCall } from "../mcp/observe.ts";

/** A call that a client makes. */
export interface ClientCall extends ObservedCall {
  readonly side: "client";
  /** The target that the client is connected to, without secrets. */
  readonly target: string;
}

/**
 * Receives the calls of a client that go to the server, for traces, metrics or a log. It does not receive results that
 * come from the cache.
 *
 * If an observer throws, the error goes to the client's `onError` and the call continues.
 */
export type ClientObserver = CallObserver<ClientCall>;
