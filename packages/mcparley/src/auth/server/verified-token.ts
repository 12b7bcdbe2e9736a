import type { RequestHead } from "../../http/exchange.ts";
import type { JsonObject } from "../../rpc/messages.ts";

/** What a token says, once it is known to be genuine. */
export interface VerifiedToken {
  /** The issuer, exactly as the token names it. */
  readonly issuer: string;
  readonly subject: string;
  /** Whom the token is for. It is refused unless the resource is among them. */
  readonly audience: readonly string[];
  /** What was granted, before any hierarchy of scopes. */
  readonly scopes: readonly string[];
  readonly clientId?: string;
  /** Seconds since 1970. */
  readonly expiresAt?: number;
  /** The thumbprint of the key that the token is bound to (RFC 9449, `cnf.jkt`): it is worth nothing without a proof. */
  readonly jkt?: string;
  /** Whatever else it says, for handlers; never the token itself. */
  readonly claims?: JsonObject;
}

/**
 * Says what a token is worth.
 *
 * It returns undefined for a token that is not its to judge, so that the next verifier is asked, and throws
 * `InvalidToken` for one that is not to be accepted. A `LocalError` `unreachable` or `timeout` says that nobody could be
 * asked: the client is told to come back, and not to sign in again. Any other error is a defect, reported and answered
 * with 500.
 */
export type TokenVerifier = (
  token: string,
  request: RequestHead,
) => VerifiedToken | undefined | Promise<VerifiedToken | undefined>;

/** A token that is not accepted. Its message is sent to the client as `error_description`: it must hold no secret. */
export class InvalidToken extends Error {
  override readonly name: string = "InvalidToken";
}
