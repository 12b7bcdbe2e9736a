import type { RunEnd, RunOptions } from "./run-events.ts";
import type { Usage } from "../model/model-request.ts";

/** The limits of a run, with their defaults. */
export interface RunLimits {
  readonly maxSteps: number;
  readonly maxTokens: number;
  readonly maxTime: number;
  readonly maxResultBytes: number;
  readonly maxToolTokens: number;
  readonly maxOutputTokens: number | undefined;
}

/** The longest delay of a timer. */
const MAX_DELAY = 2 ** 31 - 1;

/** Reads the limits of a run. Throws a `RangeError` that names the invalid option. */
export function readRunLimits(options: RunOptions): RunLimits {
  const { maxOutputTokens } = options;
  return {
    maxSteps: whole("maxSteps", options.maxSteps ?? 20),
    maxTokens: whole("maxTokens", options.maxTokens ?? 1_000_000),
    maxTime: whole("maxTime", options.maxTime ?? 30 * 60_000, { max: MAX_DELAY }),
    maxResultBytes: whole("maxResultBytes", options.maxResultBytes ?? 32 * 1024, { min: 256 }),
    maxToolTokens: whole("maxToolTokens", options.maxToolTokens ?? 8000, { min: 0 }),
    maxOutputTokens: maxOutputTokens === undefined ? undefined : whole("maxOutputTokens", maxOutputTokens),
  };
}

function whole(name: string, value: number, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`\`${name}\` must be a whole number from ${min} to ${max}; got ${String(value)}.`);
}

/** Returns the limit that forbids another request to the model. Limits are checked before each request. */
export function reachedLimit(
  limits: RunLimits,
  { step, usage }: { step: number; usage: Usage },
): RunEnd["reason"] | undefined {
  if (step >= limits.maxSteps) return "steps";
  return usage.inputTokens + usage.outputTokens >= limits.maxTokens ? "tokens" : undefined;
}
