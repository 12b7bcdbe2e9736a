/**
 * Where a server's structured logs go: an object of fields, then a message. pino's loggers and `console` are such.
 */
export interface StructuredLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const levels = ["debug", "info", "warn", "error"] as const;

/** A level of `jsonLogger`. */
export type LogLevel = (typeof levels)[number];

/** Options of `jsonLogger`. */
export interface JsonLoggerOptions {
  /** The least level that is written. `info` unless given. */
  level?: LogLevel;
  /** Takes each line, without a line break at its end. stderr unless given. */
  write?: (line: string) => void;
  /** Fields of every line, such as the name of the machine. */
  fields?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. The system's clock unless given. */
  now?: () => number;
}

/** Makes a logger that writes one line of JSON for each message: `time` (ISO 8601), `level`, `msg`, and the fields. */
export function jsonLogger(options: JsonLoggerOptions = {}): StructuredLogger {
  // oxlint-disable-next-line no-console -- the one stream that every runtime has and that a server on stdio keeps free
  const { level: least = "info", write = (line) => console.error(line), fields: always, now = Date.now } = options;
  const from = levels.indexOf(least);
  const logger = {} as Record<LogLevel, (fields: object, message: string) => void>;
  for (const [rank, level] of levels.entries()) {
    logger[level] = (fields, msg) => {
      if (rank >= from)
        write(JSON.stringify({ time: new Date(now()).toISOString(), level, msg, ...always, ...fields }));
    };
  }
  return logger;
}
