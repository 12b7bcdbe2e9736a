import { isObject } from "../rpc/messages.ts";
import type { Tables } from "../store/tables.ts";

/** The writer of an entry, and its number among the entries of the writer. */
type EntryId = readonly [writer: string, number: number];

/** A change of the store, or a message, in the format of the log. `now` is the time of the writer. */
export type Change =
  | { op: "set"; now: number; key: string; value: string; ttl: number }
  | {
      op: "compare";
      now: number;
      key: string;
      expected: string | undefined;
      value: string | undefined;
      ttl: number;
      keepTtl?: boolean;
    }
  | { op: "delete"; now: number; key: string }
  | { op: "append"; now: number; log: string; value: string; ttl: number; maxLength: number }
  | { op: "publish"; channel: string; message: string };

/** A line of the log: a change, a part of the initial snapshot, or the seal that ends a file. */
type Line =
  | (Change & { id: EntryId })
  | { op: "value"; key: string; value: string; expires: number }
  | { op: "log"; log: string; next: number; expires: number; entries: [position: string, value: string][] }
  | { op: "seal" };

/** Parses a line. Returns undefined if a crashed process has written only a part of it. */
export function readLine(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return isObject(line) ? (line as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Formats a line of the log. */
export function writeLine(line: Line): string {
  return JSON.stringify(line);
}

/**
 * Applies a change and returns the result of the operation.
 *
 * It uses the time of the entry, so that all processes that read the entry have the same result.
 */
export function apply(tables: Tables, change: Change): unknown {
  switch (change.op) {
    case "set":
      return tables.set(change.key, change.value, change);
    case "compare":
      return tables.compareAndSet(change.key, change, change);
    case "delete": {
      const hasValue = tables.get(change.key, change.now) !== undefined;
      tables.delete(change.key);
      return hasValue;
    }
    case "append":
      return tables.append(change.log, change.value, change);
    default:
      return undefined;
  }
}

/** Restores a part of the initial snapshot. */
export function restore(tables: Tables, line: Extract<Line, { op: "value" | "log" }>): void {
  const { expires } = line;
  if (line.op === "value") tables.values.set(line.key, { value: line.value, expires });
  else {
    const entries = line.entries.map(([position, value]) => ({ position, value }));
    tables.logs.set(line.log, { entries, next: line.next, expires });
  }
}

/** Returns the snapshot at the start of a new file: everything that has not expired. */
export function snapshot(tables: Tables, now: number): string[] {
  const lines: string[] = [];
  for (const [key, { value, expires }] of tables.values) {
    if (expires > now) lines.push(writeLine({ op: "value", key, value, expires }));
  }
  for (const [log, { next, expires, entries }] of tables.logs) {
    if (expires <= now) continue;
    const pairs = entries.map(({ position, value }): [string, string] => [position, value]);
    lines.push(writeLine({ op: "log", log, next, expires, entries: pairs }));
  }
  return lines;
}
