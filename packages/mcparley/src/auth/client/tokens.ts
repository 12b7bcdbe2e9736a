import type { Discovered } from "./discovery.ts";
import { type AuthorizationCore, fetchFor, mayBePrivate } from "./authorization-core.ts";
import { checkDpopAlgorithms } from "./dpop.ts";
import { AuthorizationEndpoints } from "./endpoints.ts";
import type { GrantContext } from "./grant.ts";
import { checkAddress } from "./guarded-fetch.ts";
import { Kept } from "./credentials.ts";
import { refusalCode } from "./oauth-error.ts";
import { type TokenRecord, toTokenRecord } from "./token-record.ts";

/** The refusals after which a refresh token is good for nothing (RFC 6749, 5.2). */
const spent: ReadonlySet<string> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
]);
const unending = new AbortController().signal;

/** The tokens for one server from one authorization server: where they are kept, and how they are got and given back. */
export class Tokens {
  readonly #core: AuthorizationCore;
  readonly #at: Discovered;
  readonly #kept: Kept<TokenRecord>;

  constructor(core: AuthorizationCore, at: Discovered) {
    this.#core = core;
    this.#at = at;
    this.#kept = keptTokens(core, at);
  }

  read(): Promise<TokenRecord | undefined> {
    return this.#kept.read();
  }

  /** Gets new ones by the grant. Rejects as that does. */
  async obtain(scopes: readonly string[] | undefined, signal: AbortSignal): Promise<TokenRecord> {
    const { grant, clock } = this.#core;
    const { response, clientId } = await grant.obtain(await this.#context(signal), scopes);
    const made = { at: this.#at, clientId, requestedScopes: scopes, since: clock.now() };
    const token = await toTokenRecord(response, made);
    await this.#kept.set(token);
    return token;
  }

  /**
   * Renews a token with its refresh token, unless somebody else has, whose token it gives then: refresh tokens are good
   * once. Undefined where it cannot be renewed any more; what is of no use is forgotten then.
   *
   * It is not given up when its caller is: the answer may hold the only refresh token that is still good.
   */
  async refresh(stale: TokenRecord): Promise<TokenRecord | undefined> {
    return this.#kept.exclusively(async () => {
      const present = await this.#kept.read();
      if (present && present.accessToken !== stale.accessToken) return present;
      if (present?.refreshToken === undefined) return undefined;
      const { grant, clock } = this.#core;
      const context = await this.#context(unending, present);
      const known = await grant.client(context, present.clientId);
      if (!known) return undefined;
      const since = clock.now();
      try {
        const response = await context.endpoints.refresh(known, present.refreshToken);
        const made = { at: this.#at, clientId: present.clientId, requestedScopes: undefined, since, before: present };
        const renewed = await toTokenRecord(response, made);
        // Only a sign-in writes without this lock, and what that got is newer.
        return (await this.#kept.replace(renewed)) ? renewed : await this.#kept.read();
      } catch (error) {
        const code = refusalCode(error) ?? "";
        if (!spent.has(code)) throw error;
        if (code === "invalid_client") await grant.forget?.(context, present.clientId);
        const { refreshToken: _, ...rest } = present;
        await this.#kept.replace(rest);
        return undefined;
      }
    });
  }

  /** Forgets the tokens, and gives them back where the authorization server takes them; says whether it did. */
  async revoke(): Promise<boolean> {
    const token = await this.#kept.read();
    await this.#kept.set(undefined);
    if (!token || this.#at.metadata.revocation_endpoint === undefined) return false;
    const context = await this.#context(unending);
    const known = await this.#core.grant.client(context, token.clientId);
    if (!known) return false;
    const revoke = (value: string, hint: string): Promise<boolean> =>
      isTaken(context.endpoints.revoke(known, value, hint));
    const { refreshToken, accessToken } = token;
    const isRefreshTaken = refreshToken !== undefined && (await revoke(refreshToken, "refresh_token"));
    return (await revoke(accessToken, "access_token")) || isRefreshTaken;
  }

  /** What a grant works with. Refresh tokens may be bound as the tokens are, and go on to be. */
  async #context(signal: AbortSignal, before?: TokenRecord): Promise<GrantContext> {
    const { storage, clock, dpop, options } = this.#core;
    const at = this.#at;
    const isBound = before ? before.tokenType === "dpop" : (options.dpop ?? at.isDpopRequired);
    if (isBound) checkDpopAlgorithms(at);
    const prover = isBound ? await dpop.of(at.issuer) : undefined;
    const endpoints = new AuthorizationEndpoints({ at, fetch: fetchFor(this.#core, at.server), dpop: prover, signal });
    const allowPrivate = mayBePrivate(this.#core, at.server);
    return { at, endpoints, storage, clock, signal, checkAddress: (url) => checkAddress(url, allowPrivate) };
  }
}

/** Whether a revocation is carried out: some servers cannot revoke tokens of some type, such as JWTs (RFC 7009, 2.2.1). */
async function isTaken(revocation: Promise<void>): Promise<boolean> {
  try {
    await revocation;
    return true;
  } catch (error) {
    if (refusalCode(error) === "unsupported_token_type") return false;
    throw error;
  }
}

/** Where the tokens of a server are kept: apart by the issuer, so that those of one are never shown to another. */
export function keptTokens(
  { storage, grant }: AuthorizationCore,
  { issuer, resource }: { issuer: string; resource: string },
): Kept<TokenRecord> {
  return new Kept(storage, `tokens:${JSON.stringify([grant.name, issuer, resource])}`);
}
