import type { JsonObject } from "../rpc/messages.ts";
import type { CallRecord } from "./options.ts";

/** A call of a client as observers see it: what is asked of whom, and never what is in the arguments. */
export interface ObservedRequest {
  readonly method: string;
  /** The tool, prompt or URI that it names. */
  readonly name: string | undefined;
  /** The revision that is spoken with the server. */
  readonly revision: string;
  /** What was connected to, without secrets. */
  readonly target: string;
  /** What the messages travel over; undefined within a process. */
  readonly network: "tcp" | "pipe" | undefined;
}

/** The end of a request, as an observer of the client receives it. */
export interface RequestEnd {
  readonly outcome: CallRecord["outcome"];
  readonly durationMs: number;
  /** The JSON-RPC code of the server's error, or this side's own: `timeout`, `closed`. */
  readonly code: number | string | undefined;
  readonly message: string | undefined;
}

/** What follows one call from its beginning to its end. */
export interface RequestRun {
  /** Added to the `_meta` of what is sent, such as trace context; what the caller gives wins. */
  readonly meta?: JsonObject;
  /** Runs the call, such as within the context of a trace. It gives what `send` gives. */
  within?<T>(send: () => T): T;
  ended(end: RequestEnd): void;
}

/** Told of each call that goes to the server, such as for traces and metrics; not of those answered from the cache. */
export interface ClientObserver {
  /** Told that a call begins; what it gives, if anything, is told of the rest. */
  started(request: ObservedRequest): RequestRun | undefined;
}
