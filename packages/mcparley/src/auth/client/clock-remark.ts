import { LocalError } from "../../rpc/errors.ts";

/** Milliseconds by which clocks may differ without a remark. Many servers accept times with a difference of this size. */
const MAX_OFFSET_MS = 20_000;

/**
 * Adds to an error the clocks that differ from that of this machine by more than 20 seconds, because tokens and proofs are refused for
 * such a difference. An offset is in milliseconds, and positive if the clock is ahead. NaN if it is unknown.
 */
export function withClockRemark<E extends Error>(
  error: E,
  clocks: readonly (readonly [name: string, offset: number])[],
): E | LocalError {
  const wrong = clocks.filter(([, offset]) => Math.abs(offset) > MAX_OFFSET_MS);
  if (wrong.length === 0 || !(error instanceof LocalError)) return error;
  const facts = wrong.map(([name, offset]) => {
    const seconds = Math.round(Math.abs(offset) / 1_000);
    return ` The clock of ${name} is ${seconds} s ${offset > 0 ? "ahead of" : "behind"} that of this machine.`;
  });
  const message = `${error.message}${facts.join("")} Correct the clock that is wrong.`;
  return new LocalError(error.code, message, { cause: error.cause, data: error.data });
}
