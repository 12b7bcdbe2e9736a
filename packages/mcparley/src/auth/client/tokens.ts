import { decodeJwt } from "jose";
import { LocalError } from "../../rpc/errors.ts";
import { unverifiedIdToken } from "../issuer-document.ts";
import { StoredValue } from "./credentials.ts";
import { type Discovery, splitScope } from "./discovery/discovery.ts";
import { checkDpopAlgorithms } from "./dpop.ts";
import {
  type Endpoints,
  type OAuthClient,
  type TokenResponse,
  requestTokens,
  revokeToken,
  scopeParameter,
} from "./endpoints.ts";
import {
  type AuthorizationCore,
  type GrantContext,
  type GrantUse,
  connectionFor,
  fetchFor,
  mayBePrivate,
} from "./grant.ts";
import { checkUrl } from "./guarded-fetch.ts";
import {
  isFinalRefusal,
  isLastingRefusal,
  isServerFailure,
  isUnavailable,
  refusalCode,
  withoutSecrets,
} from "./oauth-error.ts";

/** The stored tokens of one client for one server from one authorization server. */
export interface TokenRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly tokenType: "bearer" | "dpop";
  readonly refreshToken?: string;
  /** Milliseconds since 1970, as is `renewAt`. Undefined if the server does not state it. */
  readonly expiresAt?: number;
  /** When to renew the token. */
  readonly renewAt?: number;
  /** All scopes that were requested so far, so that a request for more scopes loses none. */
  readonly requestedScopes?: readonly string[];
  readonly grantedScopes?: readonly string[];
  /** The refusal to renew the token, for the error of a later request. The token has no refresh token then. */
  readonly renewalRefusal?: string;
  /** The user, if the authorization server names one. Not verified: for display only. */
  readonly subject?: string;
}

/** The signal of requests that must not be aborted. */
export const unending: AbortSignal = new AbortController().signal;

/** The parameters of a request for new tokens. */
export interface ObtainOptions extends GrantUse {
  /** Undefined if the authorization server chooses the scopes. */
  readonly scopes: readonly string[] | undefined;
}

/** Gets new tokens by the grant, and stores them. Rejects with the errors of the grant. */
export async function obtainTokens(
  core: AuthorizationCore,
  discovery: Discovery,
  { scopes, ...use }: ObtainOptions,
): Promise<TokenRecord> {
  const { grant, clock, options } = core;
  const tokenEntry = storedTokens(core, discovery);
  const previousToken = await tokenEntry.read();
  // Tokens that were bound to a key are not replaced by tokens that any thief could use.
  const isBound = options.dpop ?? (discovery.isDpopRequired || previousToken?.tokenType === "dpop");
  core.report(`Scopes to request: ${scopes?.join(" ") ?? "those that the issuer chooses"}`);
  const context = await grantContext(core, discovery, { isBound, ...use });
  const { response, clientId } = await grant.obtain(context, scopes);
  const token = toTokenRecord(response, { discovery, clientId, requestedScopes: scopes, issuedAt: clock.now() });
  core.report(describeTokens(token, clock.now()));
  await tokenEntry.set(token);
  await grant.assignTokens?.({ ...context, clientId, isSignedOut: false });
  return token;
}

/** The result of a renewal: the token, or the reason why the authorization server has issued none. Neither if there is no refresh token. */
interface Renewal {
  readonly token?: TokenRecord | undefined;
  readonly refusal?: LocalError;
}

/**
 * Renews a token with its refresh token. If another process has renewed it already, returns that token, because a refresh
 * token can be used only once. Returns no token if it cannot be renewed: the server refuses, or its response contains no usable token.
 * A refresh token is deleted if the refusal is lasting. Rejects if the server is unavailable.
 *
 * It is not aborted with its caller, because the response may contain the only valid refresh token.
 */
export async function refreshTokens(
  core: AuthorizationCore,
  discovery: Discovery,
  stale: TokenRecord,
): Promise<Renewal> {
  const { grant, clock } = core;
  const tokenEntry = storedTokens(core, discovery);
  return tokenEntry.exclusively(async () => {
    const present = await tokenEntry.read();
    if (present && present.accessToken !== stale.accessToken) return { token: present };
    if (present?.refreshToken === undefined) return {};
    const { clientId } = present;
    // Renewed tokens stay bound to a key if the tokens before them were.
    const context = await grantContext(core, discovery, { isBound: present.tokenType === "dpop", signal: unending });
    const client = await grant.client(context, clientId);
    if (!client) return {};
    const issuedAt = clock.now();
    try {
      const response = await requestRefresh(context, client, present);
      const renewedToken = toTokenRecord(response, { discovery, clientId, issuedAt, previousToken: present });
      core.report(describeTokens(renewedToken, clock.now()));
      // Only a sign-in writes without this lock, and its tokens are newer.
      return { token: (await tokenEntry.replace(renewedToken)) ? renewedToken : await tokenEntry.read() };
    } catch (error) {
      if (isUnavailable(error) || !isServerFailure(error)) throw error;
      if (!isLastingRefusal(error)) return { refusal: error };
      if (refusalCode(error) === "invalid_client") await grant.forget?.(context, clientId);
      const { refreshToken: _, ...unrenewableToken } = present;
      await tokenEntry.replace({ ...unrenewableToken, renewalRefusal: error.message });
      return { refusal: error };
    }
  });
}

/**
 * Requests new tokens for the granted scopes. Some servers require `scope` in this request. Others refuse `resource` or `scope` here
 * and nowhere else, so the request is repeated without the parameter that was refused.
 */
async function requestRefresh(
  endpoints: Endpoints,
  client: OAuthClient,
  { refreshToken = "", grantedScopes }: Pick<TokenRecord, "refreshToken" | "grantedScopes">,
): Promise<TokenResponse> {
  const parameters = { ...scopeParameter(grantedScopes), refresh_token: refreshToken };
  try {
    return await requestTokens(endpoints, client, {
      grantType: "refresh_token",
      parameters,
      what: "to refresh tokens",
    });
  } catch (error) {
    const code = isFinalRefusal(error) ? refusalCode(error) : undefined;
    const { discovery } = endpoints;
    if (code === "invalid_scope" && grantedScopes) return requestRefresh(endpoints, client, { refreshToken });
    if ((code !== "invalid_target" && code !== "invalid_request") || discovery.resourceParameter === undefined)
      throw error;
    const withoutResource: Endpoints = { ...endpoints, discovery: { ...discovery, resourceParameter: undefined } };
    return requestRefresh(withoutResource, client, { refreshToken, ...(grantedScopes && { grantedScopes }) });
  }
}

/** Revokes tokens if the authorization server supports it. Returns whether it revoked them. */
export async function revokeTokens(
  core: AuthorizationCore,
  discovery: Discovery,
  { accessToken, refreshToken, clientId }: TokenRecord,
): Promise<boolean> {
  if (discovery.metadata.revocation_endpoint === undefined) return false;
  const isBound = core.options.dpop ?? discovery.isDpopRequired;
  const context = await grantContext(core, discovery, { isBound, signal: unending });
  const client = await core.grant.client(context, clientId);
  if (!client) return false;

  async function revoke(token: string, hint: "access_token" | "refresh_token"): Promise<boolean> {
    try {
      await revokeToken(context, client!, { token, hint });
      return true;
    } catch (error) {
      const code = refusalCode(error);
      // Some servers revoke the access token with the refresh token, and then refuse it as invalid.
      if (code === "invalid_token") return true;
      // Some servers cannot revoke tokens of some type, such as JWTs (RFC 7009, 2.2.1).
      if (code === "unsupported_token_type") return false;
      throw error;
    }
  }

  const isRefreshRevoked = refreshToken !== undefined && (await revoke(refreshToken, "refresh_token"));
  return (await revoke(accessToken, "access_token")) || isRefreshRevoked;
}

/** Returns the context of one use of a grant. `isBound` requests tokens that are bound to a key. */
async function grantContext(
  core: AuthorizationCore,
  discovery: Discovery,
  { isBound, ...use }: GrantUse & { isBound: boolean },
): Promise<GrantContext> {
  if (isBound) checkDpopAlgorithms(discovery);
  const { storage, clock, options, report } = core;
  return {
    discovery,
    fetch: fetchFor(core),
    dpop: isBound ? await core.dpopKeyOf(discovery.issuer) : undefined,
    clock,
    report,
    connection: connectionFor(core),
    storage,
    checkUrl: (url) => checkUrl(url, mayBePrivate(core)),
    warn: (error) => options.onError?.(error),
    ...use,
  };
}

/**
 * The stored tokens for a server. The key contains the issuer, so that tokens are never sent to another one. It contains the
 * URL of the server, because two servers may publish the same resource.
 */
export function storedTokens(
  { storage, name, server }: AuthorizationCore,
  { issuer, resource }: { issuer: string; resource: string },
): StoredValue<TokenRecord> {
  return new StoredValue(storage, `tokens:${JSON.stringify([name, server.href, issuer, resource])}`);
}

/** A token is renewed this long before it expires, but at most this part of its lifetime. */
const EARLY_MS = 30_000;
const EARLY_PART = 10;

const tokenTypes = ["bearer", "dpop"] as const;

interface TokenOrigin {
  discovery: Discovery;
  clientId: string;
  requestedScopes?: readonly string[] | undefined;
  /** When the token was issued, or for a renewal, when it was requested. */
  issuedAt: number;
  /** The replaced token. Its values are used for members that the response omits. */
  previousToken?: TokenRecord;
}

/** The characters of an access token (RFC 6749, A.12). A header of HTTP cannot contain others. */
const accessTokenText = /^[\x20-\x7e]+$/;

/** Throws `LocalError` `authorization_failed` for an unknown type of token, and for a token that cannot be sent. */
function toTokenRecord(response: TokenResponse, origin: TokenOrigin): TokenRecord {
  const { discovery, clientId, issuedAt, previousToken } = origin;
  const { access_token: accessToken, expires_in: lifetime, scope } = response;
  const tokenType = tokenTypes.find((type) => type === response.token_type);
  if (tokenType === undefined) {
    const message = `The authorization server ${JSON.stringify(discovery.issuer)} issued a token of an unknown type.`;
    throw new LocalError("authorization_failed", message);
  }
  if (!accessTokenText.test(accessToken)) {
    const message = `The authorization server ${JSON.stringify(discovery.issuer)} issued an access token that cannot be sent, because it contains line breaks or characters outside of ASCII.`;
    throw new LocalError("authorization_failed", message, { data: { issuer: discovery.issuer } });
  }
  const refreshToken = response.refresh_token ?? previousToken?.refreshToken;
  const requestedScopes = origin.requestedScopes ?? previousToken?.requestedScopes;
  const grantedScopes = scope === undefined ? (previousToken?.grantedScopes ?? requestedScopes) : splitScope(scope);
  const subject = subjectOf(response) ?? previousToken?.subject;
  const ms = lifetime === undefined ? undefined : lifetime * 1_000;
  return {
    issuer: discovery.issuer,
    resource: discovery.resource,
    clientId,
    accessToken,
    tokenType,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(ms !== undefined && { expiresAt: issuedAt + ms, renewAt: issuedAt + ms - Math.min(EARLY_MS, ms / EARLY_PART) }),
    ...(requestedScopes && { requestedScopes }),
    ...(grantedScopes && { grantedScopes }),
    ...(subject !== undefined && { subject }),
  };
}

/** Returns the properties of issued tokens for a log, without secrets. The authorization server chooses the scopes. */
function describeTokens(
  { grantedScopes, expiresAt, refreshToken, tokenType, accessToken }: TokenRecord,
  now: number,
): string {
  const facts = [
    grantedScopes?.length ? `scopes ${grantedScopes.join(" ")}` : "scopes not stated",
    expiresAt === undefined ? "expiry not stated" : `expire in ${Math.round((expiresAt - now) / 1_000)} s`,
    refreshToken === undefined ? "not renewable" : "renewable",
    ...(tokenType === "dpop" ? ["bound to a key (DPoP)"] : []),
  ];
  return withoutSecrets(`Tokens: ${facts.join(", ")}`, [accessToken, refreshToken ?? accessToken]);
}

function subjectOf({ [unverifiedIdToken]: idToken, access_token: accessToken }: TokenResponse): string | undefined {
  for (const token of [idToken, accessToken]) {
    try {
      const { sub } = decodeJwt(typeof token === "string" ? token : "");
      if (typeof sub === "string") return sub;
    } catch {
      // An access token need not be a JWT, and an ID token can be encrypted.
    }
  }
  return undefined;
}
