import { isPromise } from "../rpc/awaitable.ts";
import { guarded } from "../rpc/guarded.ts";
import type { JsonObject } from "../rpc/messages.ts";

/**
 * How a call ended. `refused`: the caller lacks a scope or exceeds a rate limit. `input_required`: the server needs an
 * answer of the client first (2026-07-28). `timeout`: the peer did not answer in time.
 */
export type CallOutcome = "ok" | "tool_error" | "input_required" | "refused" | "error" | "cancelled" | "timeout";

/** A call when it starts, on either side. It never contains the values of arguments. */
export interface ObservedCall {
  /** The side that observes the call. */
  readonly side: "client" | "server";
  /** Start of the call, in milliseconds since the epoch. */
  readonly at: number;
  /** The JSON-RPC method. */
  readonly method: string;
  /** Tool, prompt or URI that the call names. A server keeps the first 500 characters. */
  readonly name: string | undefined;
  /** The protocol revision of the call. */
  readonly revision: string;
  /** Kind of connection. Undefined if client and server are in one process. */
  readonly network: "tcp" | "pipe" | undefined;
}

/** The end of a call. */
export interface CallEnd {
  /** The kind of end. `refused`: the call was not allowed to run. `error`: it failed, other than by a tool error. */
  readonly outcome: CallOutcome;
  /** Milliseconds from the start of the call to its end. */
  readonly durationMs: number;
  /** JSON-RPC code of the error, or on a client also the code of a `LocalError`, such as `timeout`. */
  readonly code: number | string | undefined;
  /** Message of the error, as the client received it. */
  readonly message: string | undefined;
}

/** Follows one call from its start to its end. */
export interface CallRun {
  /** On a client: added to the `_meta` of the request, such as trace context. The caller's own `_meta` has precedence. */
  readonly meta?: JsonObject;
  /** Runs the call, for example inside a trace context. Must return the result of `run`. */
  within?<T>(run: () => T): T;
  /** Called exactly once. */
  ended(end: CallEnd): void;
}

/** An observer of calls. */
export interface CallObserver<C extends ObservedCall> {
  /** Called when a call starts. The returned object, if any, receives the call's later events. */
  started?(call: C): CallRun | undefined;
}

/** A finished call, on either side: for an audit, a log or a history. It contains no values of arguments and no result. */
export interface CallRecord {
  kind: "call";
  /** Start of the call, in milliseconds since the epoch. */
  at: number;
  /** Milliseconds from the start of the call to its end. */
  durationMs: number;
  /** The JSON-RPC method. */
  method: string;
  /** Tool, prompt or URI that the call names. */
  name: string | undefined;
  /** On a server: the verified caller. Undefined if the server requires no credentials. */
  principal?: { issuer: string; subject: string } | undefined;
  /** On a server: name and version of the client, as the client reports them: `inspector/1.2.0`. */
  client?: string | undefined;
  /** On a client: the target that it is connected to, without secrets. */
  target?: string;
  /** Undefined on a client that has no connection. */
  revision: string | undefined;
  /** The kind of end. `refused`: the call was not allowed to run. `error`: it failed, other than by a tool error. */
  outcome: CallOutcome;
  /** JSON-RPC code of the error, or on a client also the code of a `LocalError`, such as `timeout`. */
  code: number | string | undefined;
  /** On a server: the type of each argument, such as `{ query: "string", limit: "number" }`. */
  arguments?: Readonly<Record<string, string>>;
}

/**
 * Starts a call at all observers, and returns them as one: the first is the outermost. `meta` and `within` are undefined if no observer has
 * them. If `started` or `ended` of an observer throws, the error goes to `report`, and neither the call nor another observer is affected.
 */
export function startCall<C extends ObservedCall>(
  observers: readonly CallObserver<C>[],
  call: C,
  report: (error: unknown) => void,
): CallRun {
  const runs = observers.flatMap((observer) => {
    const run = guarded(() => observer.started?.(call), report);
    return run === undefined || isPromise(run) ? [] : run;
  });
  const runWithin = <T>(inner: () => T): T => {
    const wrappedRun = runs.reduceRight((next, run) => (run.within ? () => run.within!(next) : next), inner);
    return wrappedRun();
  };
  return {
    ...(runs.some((run) => run.meta) && { meta: Object.assign({}, ...runs.map((run) => run.meta)) as JsonObject }),
    ...(runs.some((run) => typeof run.within === "function") && { within: runWithin }),
    ended(end) {
      for (const run of runs) guarded(() => run.ended(end), report);
    },
  };
}
