import { redact } from "mcparley";
import type { WithoutSecrets } from "../values/without-secrets.ts";

/**
 * Returns the error, or one of the same class without the secrets: in its message, its stack, its members and its causes.
 *
 * The returned error has the members of the original that are JSON or errors.
 */
export function errorWithoutSecrets(error: Error, withoutSecrets: WithoutSecrets): Error {
  const message = withoutSecrets(redact(error.message));
  // The stack starts with the message.
  const stack = error.stack && withoutSecrets(error.stack.replaceAll(error.message, () => message));
  const original = membersOf(error);
  const members = withoutSecrets(original);
  const cause = withoutSecrets(error.cause);
  if (message === error.message && stack === error.stack && members === original && cause === error.cause) return error;
  const copy = new Error(message);
  for (const [name, value] of Object.entries({ ...members, name: error.name, stack, cause })) {
    if (value !== undefined) Object.defineProperty(copy, name, { value, writable: true, configurable: true });
  }
  // Callers distinguish errors by their class.
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object) as Error;
}

/** Returns the members of an error besides those that every error has. */
function membersOf(error: Error): Record<string, unknown> {
  const names = Object.keys(error).filter((name) => !["message", "stack", "cause", "name"].includes(name));
  return Object.fromEntries(names.map((name) => [name, (error as unknown as Record<string, unknown>)[name]]));
}
