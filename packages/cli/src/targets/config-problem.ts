import { ConfigError, type Problem } from "@mcparley/config";
import { UsageError } from "../terminal/io.ts";

/** Returns an error of the package as an error of the command line, with the cure as its hint. Returns other errors unchanged. */
export function asUsageError(error: unknown): unknown {
  return error instanceof ConfigError ? problemError(error) : error;
}

/** Returns the error of the command line for a problem of a file or an entry. */
export function problemError({ message, cure }: Pick<Problem, "message" | "cure">): UsageError {
  return new UsageError(withoutCure(message, cure), cure);
}

/** Returns the fact of a message that ends with its cure. */
export function withoutCure(message: string, cure: string | undefined): string {
  return cure !== undefined && message.endsWith(cure) ? message.slice(0, -cure.length).trimEnd() : message;
}

/** Runs a function of the package, and throws its `ConfigError` as a `UsageError`. */
export function withUsageErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asUsageError(error);
  }
}
