import { ErrorCode } from "../rpc/errors.ts";
import { isUnavailable } from "../store/reaching.ts";
import { HttpRefusal } from "../http/server/refusal.ts";

/**
 * Serves a request that needs the store, and refuses it with 503 where that is out of reach. What fails for want of the
 * store fails before anything was done for the request, so it may be sent again.
 */
export async function refuseUnavailable<T>(serve: () => Promise<T> | T): Promise<T> {
  try {
    return await serve();
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    const message = "The server's store is out of reach. Nothing was done: send the request again.";
    throw new HttpRefusal(503, message, { cause, code: ErrorCode.InternalError, headers: { "retry-after": "1" } });
  }
}
