import type * as Checks from "./checks/token-checks.ts";

/**
 * Returns a function that is made with its first call. The code that verifies tokens and proofs loads jose and oauth4webapi, which take
 * 70 ms of CPU, and clients import this entry as well.
 */
export function withChecks<A extends unknown[], R>(
  make: (checks: typeof Checks) => (...args: A) => R | Promise<R>,
): (...args: A) => Promise<R> {
  let loading: Promise<(...args: A) => R | Promise<R>> | undefined;
  return async (...args) => {
    loading ??= import("./checks/token-checks.ts").then(make);
    return (await loading)(...args);
  };
}
