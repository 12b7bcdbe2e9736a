import { type Linked, link } from "../../rpc/abort.ts";
import { startLimit } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type ClientCore, defaultTotal } from "../calls/call.ts";
import type { RequestOptions } from "../options.ts";
import type { Listening } from "./subscription.ts";

/** The signal of one opening: of the caller, of the subscription, and of the total limit. */
export function openingSignal(core: ClientCore, { life }: Listening, { signal, timeout }: RequestOptions): Linked {
  const total = timeout?.total ?? core.options.timeout?.total ?? defaultTotal;
  const opening = link(signal, life.signal);
  const expire = (): void => {
    opening.abort(new LocalError("timeout", `${Method.listen} was not acknowledged within ${total} ms in all.`));
  };
  const timer = startLimit(core.clock, expire, total);
  return {
    ...opening,
    unlink() {
      core.clock.clearTimeout(timer);
      opening.unlink();
    },
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
