import { LocalError } from "../../rpc/errors.ts";
import type { Sending } from "./reply.ts";
import type { HttpTarget } from "./settings.ts";

/**
 * Returns the functions that send the requests to a target, with the `fetch` of the target or of the platform. On Node the
 * import map of the package has another module instead.
 *
 * Throws `LocalError` `invalid_target` for a target with connection settings.
 */
export function sendingFor({ fetch: customFetch, connection }: HttpTarget): Sending {
  if (connection) throw new LocalError("invalid_target", "connection works only on Node. Omit it.");
  return {
    // The `fetch` of browsers throws if it is called as a method of an object other than the global one.
    send: customFetch ?? ((url, init) => fetch(url, init)),
    createController: () => new AbortController(),
  };
}
