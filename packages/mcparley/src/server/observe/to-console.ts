import { printable } from "../../rpc/printable.ts";
import type { ServerObserver } from "../core/observer.ts";

const maxCauses = 5;

/** Writes a warning to the console. It may contain text of a caller. */
export function warnOnConsole(text: string): void {
  // oxlint-disable-next-line no-console -- the default, so that the author sees it during development
  console.warn(printable(text));
}

/**
 * Writes an error and its causes to the console, unless one of the observers receives errors.
 *
 * Its message may contain text of a caller, which must not control the operator's terminal. The console shows the stack of
 * an error unchanged.
 */
export function toConsole(error: unknown, observers: readonly ServerObserver[] = []): void {
  if (observers.some((observer) => observer.failed !== undefined)) return;
  // oxlint-disable-next-line no-console -- the last resort, so that no defect goes unnoticed
  console.error(printable(describe(error, 0)));
}

function describe(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? String(error);
  const { cause } = error;
  return cause === undefined || depth >= maxCauses ? text : `${text}\nCaused by: ${describe(cause, depth + 1)}`;
}
