import { type Linked, link } from "../../rpc/abort.ts";
import { isPromise } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type ClientCore, defaultTotal } from "../calls/call.ts";
import type { RequestOptions } from "../options.ts";
import type { Change, Listening } from "./subscription.ts";

/** The signal of one opening: of the caller, of the subscription, and of the total limit. */
export function openingSignal(core: ClientCore, { life }: Listening, { signal, timeout }: RequestOptions): Linked {
  const total = timeout?.total ?? core.options.timeout?.total ?? defaultTotal;
  const opening = link(signal, life.signal);
  const expire = (): void => {
    opening.abort(new LocalError("timeout", `${Method.listen} was not acknowledged within ${total} ms in all.`));
  };
  const timer = core.clock.setTimeout(expire, Math.min(total, 2 ** 31 - 1));
  return {
    ...opening,
    unlink() {
      core.clock.clearTimeout(timer);
      opening.unlink();
    },
  };
}

/** Returns a function that calls `onChange` and reports what it throws or rejects with. */
export function reporting(
  onChange: (change: Change) => unknown,
  report: (error: unknown) => void,
): (change: Change) => void {
  return (change) => {
    try {
      const returned = onChange(change);
      if (isPromise(returned)) returned.then(undefined, report);
    } catch (error) {
      report(error);
    }
  };
}

/** Whether another try cannot succeed: the server refuses, or the user must act first. */
export function isFinal(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== ErrorCode.InternalError;
  if (!(error instanceof LocalError)) return false;
  return /^(unauthorized|sign_in_\w+|unsupported_revision|not_capable|forbidden_url|declined|aborted)$/.test(
    error.code,
  );
}

/** Whether the server answered, and refused the method or the revision. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof ProtocolError) return isFinal(error);
  if (!(error instanceof LocalError) || error.code !== "http") return false;
  const { status } = (error.data ?? {}) as { status?: number };
  return status === 400 || status === 404 || status === 405;
}
