import type { RequestId } from "../../rpc/messages.ts";
import type { Peer, Principal } from "../dispatch/context.ts";

/**
 * How a call ended: with a result, one that says that the tool failed, or one that asks the client back; refused for
 * its caller's rights or rate; with an error; given up by its client; or because a client did not answer in time.
 */
export type Outcome = "ok" | "tool_error" | "input_required" | "refused" | "error" | "cancelled" | "timeout";

/** A call as observers see it: who asked for what, and never what was in the arguments. */
export interface ObservedCall {
  /** Milliseconds since the epoch, when the call arrived. */
  readonly at: number;
  readonly id: RequestId;
  readonly method: string;
  /** The tool, prompt or URI that the client named; its first 500 characters. */
  readonly name: string | undefined;
  /**
   * Whether the method, and the tool or prompt that is named, exist here. What a client made up must not become the
   * name of a metric or a span, of which there are to be few.
   */
  readonly known: boolean;
  readonly peer: Peer;
  readonly principal: Principal | undefined;
  /** The request's `_meta`, in which trace context travels. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** What the messages travel over; undefined for a call within this process. */
  readonly network: "tcp" | "pipe" | undefined;
  /** The type of each argument: `{ query: "string", limit: "number" }`. Of the first 50. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** The end of a call, as an observer of the server receives it. */
export interface CallEnd {
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** The JSON-RPC code of the error that was answered. */
  readonly code: number | undefined;
  /** The message of that error, as the client got it. */
  readonly message: string | undefined;
}

/** What follows one call from its beginning to its end. */
export interface CallRun {
  /** Runs the answering of the call, such as within the context of a trace. It gives what `answer` gives. */
  within?<T>(answer: () => T): T;
  ended(end: CallEnd): void;
}

/** A request that was refused before it became a call: by its caller's credentials, its headers, or its form. */
export interface Refusal {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The method of the protocol, or the method and path of an HTTP request: `POST /mcp`. */
  readonly what: string;
  readonly principal: Principal | undefined;
  /** The HTTP status, where it was refused over HTTP. */
  readonly status: number | undefined;
  /** The JSON-RPC code of the answer. */
  readonly code: number | undefined;
  /** Why, as the client was told, without what looks like a secret. */
  readonly reason: string;
}

/** A session of a legacy revision that is over. */
export interface SessionEnd {
  readonly durationMs: number;
  readonly revision: string;
  readonly reason: string;
}

/**
 * Told of what a server does, such as for traces, metrics, logs or an audit. Each member is optional.
 *
 * An error that an observer throws is reported like one of a handler, and changes no answer.
 */
export interface ServerObserver {
  /** Told that a call begins; what it gives, if anything, is told of the rest. */
  started?(call: ObservedCall): CallRun | undefined;
  refused?(refusal: Refusal): void;
  sessionEnded?(end: SessionEnd): void;
  /** Told of an error that is hidden from the client. */
  failed?(error: unknown, call: { readonly method: string; readonly id: RequestId } | undefined): void;
}
