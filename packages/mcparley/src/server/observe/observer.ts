import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type Prepared, type RequestId, isObject } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";
import { Method } from "../../mcp/methods.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type CallEnd, type CallObserver, type ObservedCall, startCall } from "../../mcp/observe.ts";
import type { Call } from "../dispatch/call.ts";
import type { Peer, Principal } from "../dispatch/context.ts";
import { methodTable } from "../dispatch/methods.ts";
import type { AnyServerDefinition } from "../options.ts";
import { toConsole } from "./to-console.ts";

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

/** The observers of one server. */
export interface Observers {
  /** Runs a call inside all observers and notifies them exactly once of its end. */
  call<T extends JsonObject | Prepared>(call: Call, answer: () => Awaitable<T>): Promise<T>;
  refused(what: string, principal: Principal | undefined, error: RefusalError): void;
  sessionEnded(end: SessionEnd): void;
  failed(error: unknown, call: Call | undefined): void;
}

const maxWhat = 200;
const maxName = 500;
const maxArguments = 50;

/** Returns the functions that notify the observers of a server. A server without observers does not load this file. */
export function observersOf({ observers = [], onError }: AnyServerDefinition, clock: Clock): Observers {
  const report = (error: unknown): void => {
    if (onError) onError(error, undefined);
    else toConsole(error);
  };
  const notify = (event: (observer: ServerObserver) => void): void => {
    for (const observer of observers) guarded(() => event(observer), report);
  };
  return {
    async call(call, answer) {
      const at = clock.now();
      const run = startCall(observers, new SeenCall(call, at), report);
      const end = (how: Omit<CallEnd, "durationMs">): void => {
        const outcome = call.cancelled ? "cancelled" : how.outcome;
        run.ended({ ...how, outcome, durationMs: clock.now() - at });
      };
      try {
        const result = await (run.within ? run.within(answer) : answer());
        end(endOfResult(result));
        return result;
      } catch (error) {
        end(endOfError(error));
        throw error;
      }
    },
    refused(what, principal, { message, status, code, options }) {
      const reason = redact(message);
      const refusal = { at: clock.now(), what: what.slice(0, maxWhat), principal, status, reason };
      notify((observer) => observer.refused?.({ ...refusal, code: code ?? options?.code }));
    },
    sessionEnded: (end) => notify((observer) => observer.sessionEnded?.(end)),
    failed: (error, call) => notify((observer) => observer.failed?.(error, call)),
  };
}

/**
 * The view of a call that observers receive. It reads from the call at each access. A call that stays open as a stream
 * releases its params and most of its peer, and an observer must not keep them in memory.
 */
class SeenCall implements ServerCall {
  readonly side = "server";
  readonly at: number;
  readonly #call: Call;

  constructor(call: Call, at: number) {
    this.#call = call;
    this.at = at;
  }

  get id(): RequestId {
    return this.#call.id;
  }

  get method(): string {
    return this.#call.method;
  }

  get name(): string | undefined {
    const { name, uri } = this.#call.params;
    const named = name ?? uri;
    return typeof named === "string" ? named.slice(0, maxName) : undefined;
  }

  get known(): boolean {
    const { core, method, params } = this.#call;
    if (!methodTable.has(method) && !core.extensionMethods.has(method)) return false;
    const { tools, prompts } = core.offering;
    if (method === Method.callTool) return tools.get(String(params.name)) !== undefined;
    return method !== Method.getPrompt || prompts.get(String(params.name)) !== undefined;
  }

  get revision(): string {
    return this.#call.peer.revision;
  }

  get peer(): Peer {
    return this.#call.peer;
  }

  get principal(): Principal | undefined {
    return this.#call.principal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    return this.#call.meta;
  }

  get network(): "tcp" | "pipe" | undefined {
    return this.#call.network;
  }

  get arguments(): Record<string, string> {
    const { arguments: given } = this.#call.params;
    const types: [name: string, type: string][] = [];
    if (!isObject(given)) return {};
    // Observers also see calls whose arguments exceed the limits, so only the first arguments are read.
    for (const key in given) {
      if (types.length === maxArguments) break;
      if (Object.hasOwn(given, key)) types.push([key.slice(0, 100), typeName(given[key])]);
    }
    return Object.fromEntries(types);
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? `array(${value.length})` : typeof value;
}

function endOfResult(result: JsonObject | Prepared): Omit<CallEnd, "durationMs"> {
  const { isError, resultType } = result as JsonObject;
  const outcome = isError === true ? "tool_error" : resultType === "input_required" ? "input_required" : "ok";
  return { outcome, code: undefined, message: undefined };
}

function endOfError(error: unknown): Omit<CallEnd, "durationMs"> {
  if (error instanceof ProtocolError) {
    const { code, message, status } = error;
    return { outcome: status === 403 || status === 429 ? "refused" : "error", code, message };
  }
  const timedOut = error instanceof LocalError && error.code === "timeout";
  return { outcome: timedOut ? "timeout" : "error", code: undefined, message: undefined };
}
