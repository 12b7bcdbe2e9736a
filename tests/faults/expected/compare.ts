import type { Count, Outcome } from "./outcome.ts";
import type { Observed } from "../run-cell.ts";
import type { Cell } from "../dimensions.ts";

/** Returns how an observed cell differs from the expected outcome. Empty if it does not. */
export function differences(cell: Cell, expected: Outcome, observed: Observed): string[] {
  const found: string[] = [...observed.problems];
  const compare = (what: string, wanted: unknown, got: unknown): void => {
    if (wanted !== got) found.push(`${what} is ${String(got)} instead of ${String(wanted)}.`);
  };
  compare("settles", expected.settles, observed.settles);
  if (expected.safeToRepeat !== undefined) compare("safeToRepeat", expected.safeToRepeat, observed.safeToRepeat);
  if (expected.retryAfterMs !== undefined) compare("retryAfterMs", expected.retryAfterMs, observed.retryAfterMs);
  compare("state", expected.state, observed.state);
  if (expected.isAtOnce) compare("time to settle", 0, observed.ms);
  for (const name of new Set([...Object.keys(expected.sent), ...Object.keys(observed.sent)])) {
    const got = observed.sent[name] ?? 0;
    if (!fits(expected.sent[name] ?? 0, got)) {
      found.push(`${name} is sent ${got} times instead of ${describeCount(expected.sent[name] ?? 0)}.`);
    }
  }
  if (observed.revision !== undefined) compare("revision", expected.revision, observed.revision);
  if (observed.remembered !== undefined) {
    const wanted = cell.fault === "upgraded" || cell.fault === "rolled-back" ? expected.revision : cell.revision;
    compare("revision of the next client", wanted, observed.remembered);
  }
  return found;
}

function fits(count: Count, got: number): boolean {
  return typeof count === "number" ? got === count : got >= count[0] && got <= count[1];
}

/** A count in words: `2`, or `2 to 10`. */
export function describeCount(count: Count): string {
  return typeof count === "number" ? String(count) : `${count[0]} to ${count[1]}`;
}
