import { LocalError } from "../../rpc/errors.ts";
import { splitScope } from "./challenge.ts";
import type { Discovered } from "./discovery.ts";
import type { TokenResponse } from "./endpoints.ts";

/** What one client holds for one resource at one authorization server. */
export interface TokenRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly tokenType: "bearer" | "dpop";
  readonly refreshToken?: string;
  /** Milliseconds since the epoch, as is `renewAt`; undefined where the server does not say. */
  readonly expiresAt?: number;
  /** When it is time for a new one. */
  readonly renewAt?: number;
  /** All that was asked for so far, so that asking for more loses nothing. */
  readonly requestedScopes?: readonly string[];
  readonly grantedScopes?: readonly string[];
  /** Who signed in, where the authorization server says so. Not verified: for showing only. */
  readonly subject?: string;
}

/** The longest that a token is renewed before its time, and the part of its lifetime that this is at most. */
const EARLY_MS = 30_000;
const EARLY_PART = 10;

const tokenTypes = ["bearer", "dpop"] as const;

interface Made {
  at: Discovered;
  clientId: string;
  requestedScopes: readonly string[] | undefined;
  /** When it was given, as far as is known: for a renewal, when it was asked for. */
  since: number;
  /** What it replaces, which keeps what the response does not say. */
  before?: TokenRecord | undefined;
}

/** What a token endpoint gave, as it is kept. Rejects with `LocalError` `authorization_failed` for an unknown type. */
export async function toTokenRecord(response: TokenResponse, made: Made): Promise<TokenRecord> {
  const { at, clientId, since, before } = made;
  const { access_token: accessToken, expires_in: lifetime, scope } = response;
  const tokenType = tokenTypes.find((type) => type === response.token_type);
  if (tokenType === undefined) {
    const message = `The authorization server ${JSON.stringify(at.issuer)} gave a token of a type that is not known here.`;
    throw new LocalError("authorization_failed", message);
  }
  const refreshToken = response.refresh_token ?? before?.refreshToken;
  const requestedScopes = made.requestedScopes ?? before?.requestedScopes;
  const grantedScopes = scope === undefined ? (before?.grantedScopes ?? requestedScopes) : splitScope(scope);
  const subject = (await subjectOf(response)) ?? before?.subject;
  const ms = lifetime === undefined ? undefined : lifetime * 1_000;
  return {
    issuer: at.issuer,
    resource: at.resource,
    clientId,
    accessToken,
    tokenType,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(ms !== undefined && { expiresAt: since + ms, renewAt: since + ms - Math.min(EARLY_MS, ms / EARLY_PART) }),
    ...(requestedScopes && { requestedScopes }),
    ...(grantedScopes && { grantedScopes }),
    ...(subject !== undefined && { subject }),
  };
}

async function subjectOf({ id_token: idToken, access_token: accessToken }: TokenResponse): Promise<string | undefined> {
  const { decodeJwt } = await import("jose");
  for (const token of [idToken, accessToken]) {
    try {
      const { sub } = decodeJwt(token ?? "");
      if (sub !== undefined) return sub;
    } catch {
      // An access token may be anything, and is for others to read.
    }
  }
  return undefined;
}
