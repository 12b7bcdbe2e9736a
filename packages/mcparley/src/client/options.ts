import type { Awaitable } from "../rpc/awaitable.ts";
import { type Clock, checkTime } from "../rpc/clock.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Implementation } from "../mcp/capabilities.ts";
import type { CustomNotification } from "../mcp/custom-notifications.ts";
import type { ElicitParams, ElicitResult } from "../mcp/elicitation.ts";
import type { LoggingLevel, LoggingMessage } from "../mcp/logging.ts";
import type { CallRecord, CallObserver, ObservedCall } from "../mcp/observe.ts";
import type { Progress } from "../mcp/progress.ts";
import type { Root } from "../mcp/roots.ts";
import type { CreateMessageParams, CreateMessageResult } from "../mcp/sampling.ts";
import type { Tool } from "../mcp/tools.ts";
import type { ValidationIssue } from "../schema/schema.ts";
import type { ClientExtension } from "./extension.ts";

/** The origin of an input request: the server and the call. Show it to the user before the user consents. */
export interface InputRequestSource {
  /** The target of the connection, without secrets. */
  readonly target: string;
  /** Name and version of the server, as the server reports them. They are not verified. */
  readonly server: Implementation | undefined;
  /** The client's request that caused this one, if known: `tools/call "add"`. */
  readonly during: string | undefined;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /**
   * Reports to the server that the answer takes longer, which restarts its time limit. Does nothing if the server cannot
   * receive progress, as in modern revisions, or if `progress` has not increased.
   */
  progress(this: void, progress: number, total?: number, message?: string): void;
  /**
   * Returns the problems of an answer to the form, by its schema, so that the user can correct it before it is sent. The
   * patterns in the schema are evaluated in linear time. Undefined for requests other than forms.
   */
  readonly check?: (content: Record<string, string | number | boolean | string[]>) => readonly ValidationIssue[];
}

/**
 * Answers a form or URL elicitation. Return `{ action: "decline" }`, or throw `Declined`, if the user declines.
 *
 * If the handler throws another error, the call fails with it on modern revisions. On legacy revisions the server receives
 * an internal error without its message.
 */
export type ElicitHandler = (request: ElicitParams, source: InputRequestSource) => Awaitable<ElicitResult>;
/** Runs the model. The user should be able to review and edit the request first. Throw `Declined` to refuse. */
export type SampleHandler = (
  request: CreateMessageParams,
  source: InputRequestSource,
) => Awaitable<CreateMessageResult>;
/** The list of roots, or a function that returns it. Roots are `file://` URIs without `.` or `..` in their paths. */
export type RootsHandler = readonly Root[] | ((source: InputRequestSource) => Awaitable<readonly Root[]>);

/**
 * Time limits of a call, in milliseconds. `Infinity` is no limit. They include a reconnect, the look-up of the tool, repeated
 * requests and the requests of extensions. They exclude the time in which a user answers.
 */
export interface Timeouts {
  /** Milliseconds without an answer or progress. Default: 60,000. */
  idle?: number;
  /** Milliseconds in total. Default: 30 minutes. */
  total?: number;
}

/** Throws a `TypeError` for a limit that is negative or not a number. */
export function checkTimeouts(timeout: Timeouts | undefined): void {
  if (timeout !== undefined && (typeof timeout !== "object" || timeout === null)) {
    const total = typeof timeout === "number" ? timeout : 60_000;
    throw new TypeError(
      `timeout must be { idle, total } in milliseconds, such as { total: ${total} }; got ${String(timeout)}.`,
    );
  }
  checkTime("timeout.idle", timeout?.idle);
  checkTime("timeout.total", timeout?.total);
}

/** Options of one request. */
export interface RequestOptions {
  /** Cancels the request. It then rejects with `LocalError` `aborted`. Default: none. */
  signal?: AbortSignal | undefined;
  /** Time limits of this request. Default: those of `connect`. */
  timeout?: Timeouts | undefined;
  /** Called for each report of progress, in order, before the result. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** The minimum level of log messages about this request. Servers of modern revisions send none if it is omitted. */
  logLevel?: LoggingLevel | undefined;
  /** Members to add to the request's `_meta`. Default: none. */
  meta?: JsonObject | undefined;
  /** Whether to send the request even if the cache has a fresh result. Default: false. */
  fresh?: boolean | undefined;
  /** Whether to wait for the final result if an extension's result, such as a task, leads to one. Default: true. */
  follow?: boolean | undefined;
}

/** Options of a client connection, for every kind of target. */
export interface ConnectOptions {
  /** The name, version and description that the client sends to the server. Default: those of this library. */
  info?: Implementation | undefined;
  /**
   * The protocol revision, such as `2025-11-25`. `auto` negotiates it. With a fixed revision, connecting fails if the server
   * does not support it. Default: `auto`.
   */
  revision?: "auto" | (string & {}) | undefined;
  /** Answers elicitations of the server. If omitted, the client does not declare the capability `elicitation`. */
  elicit?: ElicitHandler | undefined;
  /** The elicitation modes that `elicit` can show. Default: both. */
  elicitModes?: readonly ("form" | "url")[] | undefined;
  /** Answers sampling requests of the server. If omitted, the client does not declare the capability `sampling`. */
  sample?: SampleHandler | undefined;
  /** Whether `sample` can give the model tools to call. Declares `sampling.tools`. Default: false. */
  sampleTools?: boolean | undefined;
  /**
   * Whether `sample` can include the context of servers, which a request asks for with `includeContext`. Declares
   * `sampling.context`. Default: false.
   */
  sampleContext?: boolean | undefined;
  /** The roots to share with the server, or a function that returns them. Default: none. */
  roots?: RootsHandler | undefined;
  /**
   * Extensions that this client supports: a list of implementations, such as `followTasks()`, or a record of settings by
   * extension identifier. Default: none.
   */
  extensions?: readonly ClientExtension[] | Record<string, JsonObject> | undefined;
  /** Experimental capabilities to declare, by name. Default: none. Those of the server are in `client.server.capabilities.experimental`. */
  experimental?: Record<string, JsonObject> | undefined;
  /**
   * Milliseconds between two pings of the server, which is also the time limit of a ping. If two in a row are not answered,
   * the connection is closed, and the next call opens a new one. Modern servers over HTTP are not pinged, because they have
   * no connection. Default: no pings.
   */
  pingInterval?: number | undefined;
  /** Called before each tool call. The call is sent only if it returns true. Default: every call is sent. */
  confirm?:
    | ((
        call: { tool: Tool | undefined; name: string; arguments: JsonObject },
        source: InputRequestSource,
      ) => Awaitable<boolean>)
    | undefined;
  /** Called with each log message of the server. Default: they are ignored. */
  onLog?: ((message: LoggingMessage) => void) | undefined;
  /**
   * Called with each notification of the server that MCP does not define. It is not validated. Notifications are
   * handled one after another: the next one waits for the returned promise. Further ones are dropped if 100 wait.
   */
  onNotification?: ((notification: CustomNotification) => Awaitable<unknown>) | undefined;
  /**
   * Called with the `elicitationId` of a URL elicitation when the server announces that it is complete. Ids that the server
   * has not sent to this client, and ids that are complete already, are ignored. Only 2025-11-25 has such ids.
   */
  onElicitationComplete?: ((elicitationId: string) => void) | undefined;
  /** Called with the record of each finished call, including calls answered from the cache. */
  onCall?: ((record: CallRecord) => void) | undefined;
  /** Observers of each call that is sent to the server, such as `telemetry()` of `mcparley/otel`. The first is outermost. */
  observers?: readonly ClientObserver[] | undefined;
  /** Called with each error that fails no call: malformed messages, skipped list entries, lost connections. Default: none. */
  onError?: ((error: Error) => void) | undefined;
  /**
   * Time limits of every call, and of opening each connection: `idle` for each answer of the server, `total` for all of it, without the
   * time in which a user signs in. The options of a call have precedence for the call, which also waits for a connection.
   */
  timeout?: Timeouts | undefined;
  /**
   * Milliseconds to wait on a stream for the reply to `server/discover` before the client also sends the legacy
   * `initialize`. The first good answer counts. At most half of the time limit for connecting. Default: 5,000.
   */
  probeTimeout?: number | undefined;
  /**
   * Whether to cache results for the lifetime that the server sets: at most 256 results and 16 MiB. A private result is only
   * used with the credentials that it was requested with. Default: true.
   */
  cache?: boolean | undefined;
  /**
   * Maximum size of a list with several pages, in bytes of JSON. A longer one ends before the page that exceeds it, and `onError`
   * receives an error `too_large`. Default: 64 MiB.
   */
  maxListBytes?: number | undefined;
  /** Aborts connecting. It has no effect on a connected client. */
  signal?: AbortSignal | undefined;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock | undefined;
}

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
