import { printable, printableJson } from "../../rpc/printable.ts";
import { redact } from "../../rpc/redact.ts";
import { shorten } from "../../schema/schema.ts";
import type { CallEnd } from "../../mcp/observe.ts";
import type { ServerCall, ServerObserver } from "../core/observer.ts";

/** A logger whose methods accept an object of fields and a message, such as those of pino, or `console`. */
export interface StructuredLogger {
  /** Writes a message of level `debug`. `logTo` writes none. */
  debug(fields: object, message: string): void;
  /** Writes a message of level `info`: calls and ended sessions. */
  info(fields: object, message: string): void;
  /** Writes a message of level `warn`: refused requests. */
  warn(fields: object, message: string): void;
  /** Writes a message of level `error`: errors that are hidden from clients. */
  error(fields: object, message: string): void;
}

const levels = ["debug", "info", "warn", "error"] as const;

/** The severity of a log line, from least to most severe. */
export type LogLevel = (typeof levels)[number];

/** Options of `jsonLogger`. */
export interface JsonLoggerOptions {
  /** Lowest level that is written. Default: `info`. */
  level?: LogLevel;
  /** Receives each line, without a line break at its end. Default: writes to stderr. */
  write?: (line: string) => void;
  /** Fields that are added to every line, such as the name of the machine. */
  fields?: Readonly<Record<string, unknown>>;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  now?: () => number;
}

/**
 * Makes a logger that writes one line of JSON for each message: `time` (ISO 8601), `level`, `msg`, and the fields.
 *
 * Characters that control a terminal, are invisible or reorder text are written as JSON escapes. Pass the logger to `logTo`.
 *
 * @example
 * ```ts
 * import { createServer, jsonLogger, logTo } from "mcparley/server";
 *
 * const logger = jsonLogger({ level: "warn", fields: { region: "eu-1" } });
 * const server = createServer({ name: "hello", version: "1.0.0", observers: [logTo(logger)] });
 * ```
 */
export function jsonLogger(options: JsonLoggerOptions = {}): StructuredLogger {
  // oxlint-disable-next-line no-console -- stderr exists on every runtime, and a server on stdio does not use it
  const { level: least = "info", write = (line) => console.error(line), fields: always, now = Date.now } = options;
  const leastIndex = levels.indexOf(least);
  const log = (level: LogLevel) => (fields: object, msg: string) => {
    if (levels.indexOf(level) < leastIndex) return;
    write(printableJson({ time: new Date(now()).toISOString(), level, msg, ...always, ...fields }));
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

const maxCauses = 5;

/**
 * Makes an observer that logs each call (info, or warn if it was refused), each rejected request (warn), each ended
 * session (info), and each error that is hidden from clients (error). With it, errors are not written to the console.
 *
 * Each line of a call contains the request id and the trace id. No line contains arguments, results or secrets. Characters
 * that control a terminal, are invisible or reorder text are escaped in all fields.
 *
 * @example
 * ```ts
 * import { createServer, jsonLogger, logTo } from "mcparley/server";
 *
 * const server = createServer({ name: "hello", version: "1.0.0", observers: [logTo(jsonLogger())] });
 * ```
 */
export function logTo(logger: StructuredLogger): ServerObserver {
  const log = (level: LogLevel, fields: object, message: string): void =>
    logger[level](printableFields(fields), message);
  return {
    started: (call) => ({
      ended: (end) => log(end.outcome === "refused" ? "warn" : "info", callFields(call, end), "call"),
    }),
    refused: ({ what, status, code, reason, principal }) =>
      log("warn", { what, status, code, reason, issuer: principal?.issuer, subject: principal?.subject }, "refused"),
    sessionEnded: (end) => log("info", end, "session ended"),
    failed: (error, call) =>
      log("error", { method: call?.method, requestId: call?.id, err: errorFields(error) }, "error"),
  };
}

/** Maximum number of characters of a text in a record. A caller can send megabytes as a name or an id. */
const maxText = 10_000;

/** Returns the beginning of a text without secrets. More than `maxText` is read, so that no secret is cut in two. */
function redactedText(text: string): string {
  return shorten(redact(text.slice(0, maxText + 1_000)), maxText);
}

/** Returns fields whose strings are safe to show. A caller chooses many of them, such as names and its request id. */
function printableFields(fields: object): object {
  return Object.fromEntries(Object.entries(fields).map(([key, value]: [string, unknown]) => [key, shownValue(value)]));
}

function shownValue(value: unknown): unknown {
  if (typeof value === "string") return printable(shorten(value, maxText));
  return typeof value === "object" && value !== null ? printableFields(value) : value;
}

function callFields(call: ServerCall, { outcome, durationMs, code, message }: CallEnd): object {
  const { id, method, name, peer, principal, meta } = call;
  return {
    method: method.slice(0, 200),
    name: name === undefined ? undefined : redactedText(name),
    outcome,
    durationMs,
    code,
    error: message === undefined ? undefined : redactedText(message),
    requestId: id,
    traceId: traceIdOf(meta.traceparent),
    client: peer.info && `${peer.info.name}/${peer.info.version}`,
    revision: peer.revision,
    issuer: principal?.issuer,
    subject: principal?.subject,
  };
}

/** Returns the trace id of a W3C `traceparent`. */
function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === "string" ? /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent)?.[1] : undefined;
}

/** Returns an error and its causes as plain fields. Secrets are redacted here, because loggers format errors in their own way. */
function errorFields(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { message: redactedText(String(error)) };
  const { name, message, stack, cause } = error;
  const fields = {
    type: name,
    message: redactedText(message),
    stack: stack === undefined ? undefined : redactedText(stack),
  };
  return cause === undefined || depth >= maxCauses ? fields : { ...fields, cause: errorFields(cause, depth + 1) };
}
