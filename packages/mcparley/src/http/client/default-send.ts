import { LocalError } from "../../rpc/errors.ts";
import type { Send } from "./reply.ts";
import type { HttpTarget } from "./settings.ts";

/**
 * Returns the `fetch` of a target, or else that of the platform. On Node the import map of the package has another module
 * instead. Throws `LocalError` `invalid_target` for a target with connection settings.
 */
export const senderFor = ({ fetch: given, connection }: HttpTarget): Send => {
  if (connection) throw new LocalError("invalid_target", "Omit the option connection: it works only on Node.");
  // The `fetch` of browsers throws if it is called as a method of an object other than the global one.
  return given ?? ((url, init) => fetch(url, init));
};

export const createController = (): AbortController => new AbortController();
