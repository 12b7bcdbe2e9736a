import { redact } from "mcparley";

interface Filter {
  readonly hide: (text: string) => string;
  readonly hideIn: <T>(value: T) => T;
}

/** Maximum number of causes in a chain. Further ones are left out. */
const MAX_CAUSES = 8;

/**
 * Returns the error, or one of the same class without the secrets: in its message, its stack, its members and its causes.
 *
 * The returned error has the members of the original that are JSON. Objects of other classes are left out, because they may
 * contain a request with its headers.
 */
export function hideInError(error: Error, filter: Filter, depth = 0): Error {
  const message = filter.hide(redact(error.message));
  // The stack starts with the message.
  const stack = error.stack && filter.hide(error.stack.replaceAll(error.message, () => message));
  const members = membersOf(error);
  const shownMembers = filter.hideIn(members);
  const cause = causeOf(error, filter, depth);
  const isClean = message === error.message && stack === error.stack && shownMembers === members;
  if (isClean && cause === error.cause) return error;
  const shown = new Error(message);
  for (const [name, value] of Object.entries({ ...shownMembers, name: error.name, stack, cause })) {
    if (value !== undefined) Object.defineProperty(shown, name, { value, writable: true, configurable: true });
  }
  // Callers distinguish errors by their class.
  return Object.setPrototypeOf(shown, Object.getPrototypeOf(error) as object) as Error;
}

function causeOf({ cause }: Error, filter: Filter, depth: number): unknown {
  if (depth >= MAX_CAUSES) return undefined;
  return cause instanceof Error ? hideInError(cause, filter, depth + 1) : filter.hideIn(cause);
}

/** Returns the members of an error besides those that every error has. */
function membersOf(error: Error): Record<string, unknown> {
  const names = Object.keys(error).filter((name) => !["message", "stack", "cause", "name"].includes(name));
  return Object.fromEntries(names.map((name) => [name, (error as unknown as Record<string, unknown>)[name]]));
}
