import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { excerptOf } from "./body.ts";
import { asksForAuthorization } from "./send.ts";

/** The error for a response whose status is the answer, and what it says; it reads the beginning of the body. */
export async function statusError(response: Response, what: string, clock: Clock): Promise<LocalError> {
  return errorFor(response, { what, said: await excerptOf(response), clock });
}

interface Circumstances {
  /** What was sent. */
  what: string;
  /** The beginning of the body, or the message that it holds. */
  said: string;
  clock: Clock;
}

/** The error for a response whose body was read already. */
export function errorFor(response: Response, { what, said, clock }: Circumstances): LocalError {
  const { status, statusText } = response;
  const reason = said === "" ? "" : `: ${said}`;
  if (asksForAuthorization(response) || status === 403) {
    const challenge = response.headers.get("www-authenticate") ?? undefined;
    const cure = status === 401 ? "asks for a sign-in" : "refuses access";
    const message = `The server ${cure} (${status}) for ${what}${reason}`;
    return new LocalError("unauthorized", message, { data: { status, challenge, body: said } });
  }
  const name = statusText === "" ? "" : ` ${redact(statusText)}`;
  const message = `The server answered ${what} with ${status}${name}${reason}`;
  const retryAfterMs = readRetryAfter(response, clock);
  const data = retryAfterMs === undefined ? { status, body: said } : { status, body: said, retryAfterMs };
  return new LocalError("http", message, { data });
}

export function sessionLost(what: string): LocalError {
  const message = `The server does not know this session any more (404 for ${what}). Open a new one.`;
  return new LocalError("session_lost", message, { data: { status: 404 } });
}

/** How long the server asks to wait, in seconds or until a date (RFC 9110, 10.2.3). */
function readRetryAfter(response: Response, clock: Clock): number | undefined {
  const value = response.headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - clock.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Whether a status may be another one the next time. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
