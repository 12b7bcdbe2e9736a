import { isObject } from "@mcparley/internal/is-object";
import { withSortedMembers } from "@mcparley/internal/sorted-members";
import type { JsonObject } from "mcparley";

/** Finds calls that fail again and again with the same arguments. */
export interface RepeatedFailures {
  /** Whether a call has failed so often that it must not run again. */
  isBlocked(this: void, name: string, args: JsonObject): boolean;
  /** Records the outcome of a call. A success permits all calls again, because it may have changed the outcome of others. */
  record(this: void, call: { name: string; arguments: JsonObject; isError: boolean }): void;
}

/** Number of failures after which a call is blocked. */
export const MAX_FAILURES = 3;

/** Returns the record of a run without failures. */
export function createRepeatedFailures(): RepeatedFailures {
  const failures = new Map<string, number>();
  return {
    isBlocked: (name, args) => (failures.get(callKey(name, args)) ?? 0) >= MAX_FAILURES,
    record({ name, arguments: args, isError }) {
      if (!isError) return failures.clear();
      const key = callKey(name, args);
      failures.set(key, (failures.get(key) ?? 0) + 1);
    },
  };
}

function callKey(name: string, args: JsonObject): string {
  return `${name} ${JSON.stringify(args, sortedKeys)}`;
}

function sortedKeys(_key: string, value: unknown): unknown {
  return isObject(value) ? withSortedMembers(value) : value;
}
