import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";

/**
 * Gets a credential from a function of the user. Throws `LocalError` `authorization_failed` where that fails, with its
 * error as the cause, or gives nothing.
 */
export async function credentialFrom<T>(what: string, source: () => T | Promise<T>): Promise<T> {
  let given: T;
  try {
    given = await source();
  } catch (cause) {
    const why = redact(cause instanceof Error ? cause.message : String(cause));
    throw new LocalError("authorization_failed", `${what} cannot be had: ${why}`, { cause });
  }
  if (given) return given;
  throw new LocalError("authorization_failed", `${what} is empty.`);
}
