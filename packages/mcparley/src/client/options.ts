import type { Awaitable } from "../rpc/awaitable.ts";
import type { Clock } from "../rpc/clock.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Implementation } from "../mcp/capabilities.ts";
import type { ElicitParams, ElicitResult } from "../mcp/elicitation.ts";
import type { LoggingLevel, LoggingMessage } from "../mcp/logging.ts";
import type { CallRecord } from "../mcp/observe.ts";
import type { Progress } from "../mcp/progress.ts";
import type { Root } from "../mcp/roots.ts";
import type { CreateMessageParams, CreateMessageResult } from "../mcp/sampling.ts";
import type { Tool } from "../mcp/tools.ts";
import type { Issue } from "../schema/schema.ts";
import type { ClientExtension } from "./extension.ts";
import type { ClientObserver } from "./observer.ts";

/** Who asks, and in which call: what a person needs to see before consenting. */
export interface Asker {
  /** What was connected to. */
  readonly target: string;
  /** What the server says of itself; not verified. */
  readonly server: Implementation | undefined;
  /** The request that the server asks within, where that is known: `tools/call "add"`. */
  readonly during: string | undefined;
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal;
  /**
   * Returns the problems of an answer to the form, by its schema, so that the user can correct it before it is sent. The
   * patterns in the schema are evaluated in linear time. Undefined for requests other than forms.
   */
  readonly check?: (content: Record<string, string | number | boolean | string[]>) => readonly Issue[];
}

/** Answers a form or a URL question. Throwing refuses it with an error; `{ action: "decline" }` says no. */
export type ElicitHandler = (question: ElicitParams, asker: Asker) => Awaitable<ElicitResult>;
/** Runs the model, after showing and perhaps editing what is asked. Throw `Declined` to refuse. */
export type SampleHandler = (request: CreateMessageParams, asker: Asker) => Awaitable<CreateMessageResult>;
/** Gives the roots, or is the list of them: `file://` URIs, with no `.` or `..` in their paths. */
export type RootsHandler = readonly Root[] | ((asker: Asker) => Awaitable<readonly Root[]>);

/** Time limits of a request, in milliseconds. */
export interface Timeouts {
  /** Milliseconds without an answer or progress. 60,000. */
  idle?: number;
  /** Milliseconds in all. 30 minutes. */
  total?: number;
}

/** Options of one request. */
export interface RequestOptions {
  signal?: AbortSignal;
  timeout?: Timeouts;
  /** Called for each report of progress, in order, before the result. */
  onProgress?: (progress: Progress) => void;
  /** The level from which log messages about this request are wanted; modern revisions send none unless asked. */
  logLevel?: LoggingLevel;
  /** Added to the request's `_meta`. */
  meta?: JsonObject;
  /** Whether to ask the server although a result that was kept is still good. */
  fresh?: boolean;
  /** False gives a result of a type that an extension brings as it is, and not the final result that it leads to. */
  follow?: boolean;
}

/** Options of a client connection, for every kind of target. */
export interface ConnectOptions {
  /** What this client says of itself. */
  info?: Implementation;
  /** `auto` finds out; a version pins it, and connecting fails where the server does not speak it. */
  revision?: "auto" | (string & {});
  elicit?: ElicitHandler;
  /** The kinds of question that `elicit` can show. Both unless given. */
  elicitModes?: readonly ("form" | "url")[];
  sample?: SampleHandler;
  /** Whether `sample` can give the model tools to call. */
  sampleTools?: boolean;
  roots?: RootsHandler;
  /** Extensions that this client supports: with what they do, or by identifier with their settings alone. */
  extensions?: readonly ClientExtension[] | Record<string, JsonObject>;
  /** Asked before each tool call; false refuses it. Without it every call goes through. */
  confirm?: (call: { tool: Tool | undefined; name: string; arguments: JsonObject }, asker: Asker) => Awaitable<boolean>;
  onLog?: (message: LoggingMessage) => void;
  /** Called with the record of each finished call, also of one that the cache answered. */
  onCall?: (record: CallRecord) => void;
  /** Receive each call that goes to the server, such as `telemetry()` of `mcparley/otel`. The first is the outermost. */
  observers?: readonly ClientObserver[];
  /** Told of what went wrong without a call to fail: malformed messages, skipped list entries, reconnects. */
  onError?: (error: Error) => void;
  timeout?: Timeouts;
  /**
   * Milliseconds that a server on a stream may stay silent on the first, modern question before it is asked the legacy
   * way as well; whichever it answers counts, however late. 5,000.
   */
  probeTimeout?: number;
  /** Keep results for as long as the server says they are good. True unless given. */
  cache?: boolean;
  /** Ends connecting, not the client. */
  signal?: AbortSignal;
  clock?: Clock;
}
