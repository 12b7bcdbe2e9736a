import { decodeJwt } from "jose";
import type { ReplyHeaders } from "../../http/client/reply.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Challenge, Discovery } from "./discovery/discovery.ts";
import { clockRemark, inWords, offsetRemark, withoutSecrets } from "./oauth-error.ts";
import type { TokenRecord } from "./tokens.ts";

/** A response that refuses an access token. */
export interface Refusal {
  readonly challenge: Challenge;
  readonly headers: ReplyHeaders;
}

/** Returns the reason of a server for the refusal of a token, in words and without the token. Undefined if it has none. */
export function reasonOf({ error, description }: Challenge, token: string | undefined): string | undefined {
  return error === undefined ? undefined : withoutSecrets(inWords(error, description), token ? [token] : []);
}

/** Returns the error for a token that a server refuses although the token was just issued. `now` is the local time. */
export function refusedFreshToken(
  { server, issuer, resource }: Discovery,
  { challenge, headers }: Refusal,
  { token, now }: { token: TokenRecord; now: number },
): LocalError {
  const reason = reasonOf(challenge, token.accessToken);
  const message =
    `${server.origin} rejects the token that ${JSON.stringify(issuer)} has just issued for ${JSON.stringify(resource)}` +
    `${reason === undefined ? "" : `: ${reason}`}. Check the accepted issuers and audiences of the server.`;
  const error = challenge.error === undefined ? undefined : withoutSecrets(challenge.error, []);
  const data = { status: 401, issuer, ...(error && { error }) };
  const clocks =
    clockRemark({ headers, sentAt: now, receivedAt: now }, "the server") +
    offsetRemark(issuerOffset(token), "the authorization server");
  return new LocalError("unauthorized", message + clocks, { data });
}

/** Returns the error of a failed sign-in with the reasons for which a sign-in is necessary. Returns errors of the program unchanged. */
export function withReasons(error: unknown, reasons: readonly (string | undefined)[]): unknown {
  const texts = reasons.filter((reason) => reason !== undefined);
  if (texts.length === 0 || !(error instanceof LocalError)) return error;
  const message = [error.message, ...texts].join(" ");
  return new LocalError(error.code, message, { data: error.data, cause: error });
}

/** Returns by how much the clock of the issuer is ahead: the end of the token in its claims minus the end by the local clock. */
function issuerOffset({ accessToken, expiresAt = NaN }: TokenRecord): number {
  try {
    const { exp = NaN } = decodeJwt(accessToken);
    return exp * 1_000 - expiresAt;
  } catch {
    // An access token need not be a JWT.
    return NaN;
  }
}
