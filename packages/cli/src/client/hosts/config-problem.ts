import { ConfigError } from "@mcparley/config";
import { UsageError } from "../io.ts";

/** Returns an error of the package as an error of the command line, with the cure as its hint. Returns other errors unchanged. */
export function asUsageError(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error;
  const { message, cure } = error;
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
