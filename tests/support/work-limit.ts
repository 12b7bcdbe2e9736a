import { Script } from "node:vm";

/** Name of the global property through which the script reaches the work. */
const slot = "mcparleyLimitedWork";

/** Calls the global function, so that the time limit of the script applies to it. */
const script = new Script(`globalThis.${slot}()`);

/**
 * Runs synchronous work, and throws if it takes more than `limit` milliseconds. Default: 60,000.
 *
 * The work is interrupted, even inside of one regular expression. The timeout of a test cannot do that: without this limit
 * a pattern that backtracks for ever makes the whole run hang. If `work` is asynchronous, the limit applies until its
 * first `await`.
 */
export function withinLimit<T>(work: () => T, limit = 60_000): T {
  const globals = globalThis as unknown as Record<string, unknown>;
  globals[slot] = work;
  try {
    return script.runInThisContext({ timeout: limit }) as T;
  } finally {
    delete globals[slot];
  }
}
