import { type HttpAuthRefusal, type HttpAuthRequest, type HttpConnection, nameOf } from "../../http/client/settings.ts";
import { StoredValue, serverKey } from "./credentials.ts";
import {
  type Challenge,
  type Discovery,
  discover,
  discoverFor,
  readChallenge,
  splitScope,
} from "./discovery/discovery.ts";
import type { DpopProver } from "./dpop.ts";
import { type AuthorizationCore, fetchFor } from "./grant.ts";
import { isLastingRefusal, isServerFailure, isUnavailable } from "./oauth-error.ts";
import { SIGN_IN_PAUSE_MS, SignInLimits } from "./sign-in-limits.ts";
import { reasonOf, refusedFreshToken, withReasons } from "./refused-token.ts";
import {
  type ObtainOptions,
  type TokenRecord,
  obtainTokens,
  refreshTokens,
  revokeTokens,
  storedTokens,
  unending,
} from "./tokens.ts";
import type { ReplyHeaders } from "../../http/client/reply.ts";

/** Identifies the last tokens for a server in the storage. */
interface TokenLocation {
  readonly issuer: string;
  readonly resource: string;
}

/** Milliseconds after a refused renewal in which no other one is made before the server refuses the token. */
const RENEWAL_PAUSE_MS = 10_000;

/** A refused request, for which more scopes may be requested. */
interface StepUp extends Pick<HttpAuthRefusal, "repeated" | "challenges"> {
  readonly storedToken: TokenRecord | undefined;
  readonly signal: AbortSignal;
}

/** The authorization of requests to one MCP server: the token in use, and the decision after a refusal. */
export class ServerAuthorization {
  readonly #core: AuthorizationCore;
  readonly #location: StoredValue<TokenLocation>;
  #discovery: Discovery | undefined;
  #token: TokenRecord | undefined;
  #prover: DpopProver | undefined;
  /** The origin of the token in use. */
  #origin: "stored" | "refreshed" | "obtained" = "stored";
  /** Until this time a token of a sign-in that the server has not accepted yet is not replaced if the server refuses it. */
  #unprovenUntil = 0;
  /** Until this time the token is not renewed before the server refuses it. */
  #renewalPausedUntil = 0;
  #loading: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  readonly #limits: SignInLimits;
  /** Number of challenges so far. If one fails, all that wait fail with the same error. */
  #challenges = 0;
  #failure: { upTo: number; error: unknown } | undefined;

  constructor(core: AuthorizationCore) {
    this.#core = core;
    this.#location = new StoredValue(core.storage, serverKey(core.name, core.server.href));
    this.#limits = new SignInLimits(core.clock);
  }

  /** Sets the connection settings of the authorization requests. */
  useConnection(connection: HttpConnection | undefined): void {
    this.#core.connection = connection;
  }

  async headers({ url, method }: HttpAuthRequest): Promise<Readonly<Record<string, string>>> {
    await this.load();
    const { renewAt, refreshToken } = this.#token ?? {};
    const canRenew = refreshToken !== undefined || this.#core.grant.isUnattended === true;
    if (canRenew && renewAt !== undefined && this.#core.clock.now() >= Math.max(renewAt, this.#renewalPausedUntil)) {
      await (this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined)));
    }
    const token = this.#token;
    if (!token) return {};
    if (token.tokenType === "bearer") return { authorization: `Bearer ${token.accessToken}` };
    this.#prover ??= await this.#core.dpopKeyOf(token.issuer);
    return this.#prover.headers(token.accessToken, url, method);
  }

  readResponse({ url }: HttpAuthRequest, response: { status: number; headers: ReplyHeaders }): boolean {
    // A token without enough scopes is accepted too.
    if (response.status < 300 || response.status === 403) this.#unprovenUntil = 0;
    return this.#prover?.readNonce(url, response) ?? false;
  }

  /** Returns the token in use. The storage is read once. */
  load(): Promise<TokenRecord | undefined> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading.then(() => this.#token);
  }

  /** Finds the authorization server, with the challenge of a response with this status. */
  async discover({ resourceMetadata }: Challenge, status: number, signal: AbortSignal): Promise<Discovery> {
    const { grant, options, server } = this.#core;
    this.#discovery = await discover({
      fetch: fetchFor(this.#core),
      server,
      challengeUrl: resourceMetadata,
      isTokenRequired: status === 401 || status === 403,
      location: await this.#location.read(),
      preferredIssuers: grant.preferredIssuers?.() ?? [],
      mayChangeIssuer: grant.mayChangeIssuer,
      options,
      signal,
    });
    this.#core.report(
      `Issuer ${JSON.stringify(this.#discovery.issuer)} for the resource ${JSON.stringify(this.#discovery.resource)}`,
    );
    return this.#discovery;
  }

  /** Handles a refusal, one after another. Resolves with true if the request should be repeated with new headers. */
  answerChallenge(refusal: HttpAuthRefusal, signal: AbortSignal): Promise<boolean> {
    return this.inTurn(signal, () => this.#handle(refusal, signal));
  }

  /** Runs work that may ask the user. All processes that share the storage run it one after another for each server. */
  inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const turn = ++this.#challenges;
    return this.#location.exclusively(async () => {
      signal.throwIfAborted();
      if (this.#failure && turn <= this.#failure.upTo) throw this.#failure.error;
      try {
        return await work();
      } catch (error) {
        if (!signal.aborted) this.#failure = { upTo: this.#challenges, error };
        throw error;
      }
    }, signal);
  }

  /**
   * Gets new tokens by the grant, even if there are valid ones. If the authorization server cannot be used, uses the next one
   * that the MCP server names.
   */
  async obtain(first: Discovery, options: ObtainOptions): Promise<TokenRecord> {
    const { discovery, token } = await this.#obtainFrom(first, options).catch((error: unknown) => {
      if (!options.signal.aborted) this.#limits.addFailure(error);
      throw error;
    });
    this.#limits.clearFailures();
    await this.#location.set({ issuer: discovery.issuer, resource: discovery.resource });
    const { clock, grant } = this.#core;
    if (!grant.isUnattended) this.#unprovenUntil = clock.now() + SIGN_IN_PAUSE_MS;
    return this.#adopt(token, "obtained");
  }

  async #obtainFrom(
    discovery: Discovery,
    options: ObtainOptions,
  ): Promise<{ discovery: Discovery; token: TokenRecord }> {
    let isVisited = false;
    const onVisit = (): void => void (isVisited = true);
    try {
      return { discovery, token: await obtainTokens(this.#core, discovery, { ...options, onVisit }) };
    } catch (error) {
      options.signal.throwIfAborted();
      // The issuer of the present tokens is not replaced while it is unavailable.
      const mayRecover = isUnavailable(error) && discovery.issuer === (await this.load())?.issuer;
      if (!discovery.discoverNext || isVisited || mayRecover || !isServerFailure(error)) throw error;
      const next = await discovery.discoverNext().catch(() => {
        throw error;
      });
      return this.#obtainFrom(next, options);
    }
  }

  /** Gets new tokens for a request that was refused. */
  async #obtainForRequest(discovery: Discovery, options: ObtainOptions): Promise<TokenRecord> {
    if (!this.#core.grant.isUnattended) this.#limits.checkFailures();
    return this.obtain(discovery, options);
  }

  /** Deletes the tokens, and revokes them if the authorization server supports it, unless another sign-out has done so. */
  async signOut(token: TokenRecord): Promise<"revoked" | "forgotten" | "not_signed_in"> {
    this.#token = undefined;
    await this.#location.set(undefined);
    const tokenEntry = storedTokens(this.#core, token);
    const tokens = await tokenEntry.read();
    if (!tokens) return "not_signed_in";
    await tokenEntry.set(undefined);
    try {
      const discovery = await this.#issuerOf(token);
      return (await revokeTokens(this.#core, discovery, tokens)) ? "revoked" : "forgotten";
    } finally {
      const { grant, server, storage, clock } = this.#core;
      const { issuer, clientId } = token;
      const access = { discovery: { server, issuer }, storage, clock, fetch: fetchFor(this.#core) };
      await grant.assignTokens?.({ ...access, clientId, isSignedOut: true });
    }
  }

  /** Returns the authorization server that issued a token. */
  async #issuerOf(token: TokenRecord): Promise<Discovery> {
    if (this.#discovery?.issuer === token.issuer && this.#discovery.resource === token.resource) return this.#discovery;
    const { server, options } = this.#core;
    return discoverFor(token, { fetch: fetchFor(this.#core), server, options, signal: unending });
  }

  /** Returns the scopes to request (2026-07-28, "Scope Selection Strategy"), including those of earlier requests. */
  scopesFor(
    discovery: Discovery,
    requiredScopes: readonly string[] | undefined,
    token?: TokenRecord,
  ): string[] | undefined {
    const { scope } = this.#core.options;
    if (scope !== undefined) return splitScope(scope);
    const scopes = unite(token?.requestedScopes, requiredScopes ?? discovery.scopesSupported);
    return scopes.length === 0 ? undefined : scopes;
  }

  async #load(): Promise<void> {
    const location = await this.#location.read();
    if (!location || this.#token) return;
    const { issuer } = this.#core.options;
    if (issuer !== undefined && issuer !== location.issuer) return;
    const token = await storedTokens(this.#core, location).read();
    if (token && !this.#token) await this.#adopt(token, "stored");
  }

  async #handle(
    { status, headers, shown: requestHeaders, repeated: repetitions, challenges }: HttpAuthRefusal,
    signal: AbortSignal,
  ): Promise<boolean> {
    const challenge = await readChallenge(headers);
    // A token can contain spaces.
    const sentToken = requestHeaders.authorization?.replace(/^\S+ /, "");
    const reason = sentToken === undefined ? undefined : reasonOf(challenge, sentToken);
    const server = nameOf(this.#core.server);
    if (sentToken !== undefined) {
      const reasonText = reason === undefined ? "" : `: ${reason}`;
      this.#core.report(`${server} refused the access token with status ${status}${reasonText}`);
    }
    if (status === 403 && challenge.error !== "insufficient_scope") return false;
    const discovery = await this.discover(challenge, status, signal);
    const storedToken = await storedTokens(this.#core, discovery).read();
    if (storedToken && storedToken.accessToken !== sentToken) {
      // Another request of this process may have obtained the token. The server may refuse it as well.
      const isInUse = storedToken.accessToken === this.#token?.accessToken;
      await this.#adopt(storedToken, isInUse ? this.#origin : "stored");
      return true;
    }
    if (status === 403)
      return this.#stepUp(discovery, challenge, { storedToken, repeated: repetitions, challenges, signal });
    const now = this.#core.clock.now();
    // Neither a renewal nor another sign-in helps if the server refuses the first use of a token.
    if (storedToken && this.#origin === "obtained" && (repetitions > 0 || now < this.#unprovenUntil)) {
      const error = refusedFreshToken(discovery, { challenge, headers }, { token: storedToken, now });
      this.#limits.pause(error);
      throw error;
    }
    // A token that was renewed for this request was refused, so another renewal would not help.
    const isFresh = repetitions > 0 && this.#origin === "refreshed";
    const { token, refusal } = storedToken && !isFresh ? await refreshTokens(this.#core, discovery, storedToken) : {};
    if (token) {
      await this.#adopt(token, "refreshed");
      return true;
    }
    const scopes = this.scopesFor(discovery, challenge.scopes, storedToken);
    // Most responses to a renewal show whether the server knows the client.
    const isClientChecked = storedToken?.refreshToken !== undefined && (!refusal || isLastingRefusal(refusal));
    const registration = isClientChecked ? "stored" : "checked";
    await this.#obtainForRequest(discovery, { scopes, registration, signal }).catch((error: unknown) => {
      const refusalText = reason === undefined ? undefined : `${server} refused the stored token: ${reason}.`;
      throw withReasons(error, [refusalText, refusal?.message ?? storedToken?.renewalRefusal]);
    });
    return true;
  }

  /** Requests more scopes in addition to the present ones (2026-07-28, "Step-Up Authorization Flow"). */
  async #stepUp(
    discovery: Discovery,
    { scopes: requiredScopes = discovery.scopesSupported ?? [] }: Challenge,
    { storedToken, repeated: repetitions, challenges, signal }: StepUp,
  ): Promise<boolean> {
    const { requestedScopes, grantedScopes, accessToken } = storedToken ?? {};
    // These scopes were already requested for this request, without success.
    const wereRequested = requiredScopes.every((scope) => requestedScopes?.includes(scope));
    if (requiredScopes.length === 0 || (repetitions > 0 && wereRequested)) return false;
    const name = requiredScopes.toSorted().join(" ");
    if (!this.#limits.allowsStepUp(name, { token: accessToken, challenges })) return false;
    const missing = requiredScopes.filter((scope) => !grantedScopes?.includes(scope));
    const token = await this.#obtainForRequest(discovery, {
      scopes: unite(requestedScopes, grantedScopes, requiredScopes),
      registration: "checked",
      missingScopes: missing.length > 0 ? missing : requiredScopes,
      signal,
    });
    this.#limits.addStepUp(name, token.accessToken);
    return true;
  }

  /** Renews the token before it expires. If that fails, the old token is sent, and the server decides. */
  async #renew(): Promise<void> {
    const token = this.#token;
    if (!token) return;
    try {
      const discovery = await this.#issuerOf(token);
      const { token: renewedToken, refusal } = await refreshTokens(this.#core, discovery, token);
      if (refusal) this.#core.options.onError?.(refusal);
      // A server that refuses the token of a sign-in also refuses its renewal, so the origin stays the sign-in.
      if (renewedToken) await this.#adopt(renewedToken, this.#origin === "obtained" ? "obtained" : "refreshed");
      else if (this.#core.grant.isUnattended) await this.#replace(discovery, token);
      else if (refusal && !isLastingRefusal(refusal)) {
        this.#renewalPausedUntil = this.#core.clock.now() + RENEWAL_PAUSE_MS;
      } else if (this.#token === token) {
        const { refreshToken: _, ...withoutRefresh } = token;
        this.#token = withoutRefresh;
      }
    } catch (error) {
      this.#core.options.onError?.(error instanceof Error ? error : new Error(String(error), { cause: error }));
    }
  }

  /** Replaces a token by a grant that needs no user, unless another process has already replaced it. */
  async #replace(discovery: Discovery, token: TokenRecord): Promise<void> {
    await this.inTurn(unending, async () => {
      const storedToken = await storedTokens(this.#core, discovery).read();
      if (storedToken && storedToken.accessToken !== token.accessToken) await this.#adopt(storedToken, "stored");
      else await this.obtain(discovery, { scopes: this.scopesFor(discovery, undefined, token), signal: unending });
    });
  }

  async #adopt(token: TokenRecord, origin: "stored" | "refreshed" | "obtained"): Promise<TokenRecord> {
    this.#token = token;
    this.#origin = origin;
    this.#renewalPausedUntil = 0;
    this.#prover = token.tokenType === "dpop" ? await this.#core.dpopKeyOf(token.issuer) : undefined;
    return token;
  }
}

/** Returns the scopes of all sets, each once. */
export function unite(...sets: (readonly string[] | undefined)[]): string[] {
  return [...new Set(sets.flatMap((set) => set ?? []))];
}
