import { invalidParams } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";

/** The levels of RFC 5424, the least severe first. */
export const loggingLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** A severity of log messages, as in RFC 5424. */
export type LoggingLevel = (typeof loggingLevels)[number];

/** A log message that a server sends to a client. */
export interface LoggingMessage {
  /** The severity, from `debug` to `emergency`. */
  level: LoggingLevel;
  /** Name of the component that wrote the message. */
  logger?: string;
  /** Any JSON value. */
  data: unknown;
  /** Metadata of the server. Its keys have the form of the specification (2025-11-25, basic, `_meta`). */
  _meta?: JsonObject;
}

/** Validates a level. Throws -32602 with the list of levels if it is unknown. */
export function readLoggingLevel(value: unknown, where: string): LoggingLevel {
  const level = loggingLevels.find((name) => name === value);
  if (level) return level;
  throw invalidParams(`${where} must be one of ${loggingLevels.join(", ")}`);
}

/** Returns whether a message of `level` is sent to a client that requested `minimum` and above. */
export function isLoggable(level: LoggingLevel, minimum: LoggingLevel): boolean {
  return loggingLevels.indexOf(level) >= loggingLevels.indexOf(minimum);
}
