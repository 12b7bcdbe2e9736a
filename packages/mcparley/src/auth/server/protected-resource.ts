import type { HttpRequestHead, ResponseHeaders } from "../../http/exchange.ts";
import { HttpRefusal } from "../../http/server/refusal.ts";
import type { AuthenticationRequest, HttpServerAuth } from "../../http/server/server-auth.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Principal } from "../../server/dispatch/context.ts";
import type { Store } from "../../store/store.ts";
import {
  BadPresentation,
  type ChallengeOptions,
  type PresentedToken,
  type Reason,
  type Scheme,
  challengeHeader,
  readPresented,
} from "./authorization-headers.ts";
import { type DpopOptions, InvalidProof, type ProofChecker, makeProofChecker, proofAlgorithms } from "./dpop.ts";
import { checkIdentifier, invalid } from "./option-checks.ts";
import { type ResourceDescription, describeResource, metadataUrlOf, publish } from "./published-metadata.ts";
import { InvalidToken, type TokenVerifier, type VerifiedToken, keepToken } from "./verified-token.ts";

/** Returns the scopes that a scope implies, such as `files:read` for `files:write`, without the scope itself. */
export type ScopeHierarchy = (scope: string) => readonly string[];

/** Options of `protectedResource`. */
export interface ProtectedResourceOptions extends ResourceDescription {
  /** Verifies tokens. Several are called in order, until one returns a token. */
  verifier: TokenVerifier | readonly TokenVerifier[];
  /** Further accepted audiences, if an authorization server uses another name for the resource. */
  audience?: readonly string[];
  /** The scopes that a scope implies. Default: none. */
  scopeHierarchy?: ScopeHierarchy;
  /** The checks of tokens that are bound to a key (RFC 9449). Default: both bound and unbound tokens are accepted. */
  dpop?: DpopOptions;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** The `auth` of an endpoint, and its published metadata. */
export interface ProtectedResource extends HttpServerAuth {
  /** The metadata (RFC 9728), if another server must publish it. */
  readonly metadata: JsonObject;
  /** The URL of the metadata in challenges. */
  readonly metadataUrl: string;
}

/**
 * Protects an endpoint as an OAuth resource (2026-07-28, authorization): `listen(server, { auth: protectedResource({ ... }) })`.
 *
 * Every request needs a token of one of the issuers for this resource in its `Authorization` header. The protected resource
 * metadata, which lists the authorization servers, is served at its path and at the root. `ctx.principal` is the
 * authenticated caller, with the claims of the token and without the token itself.
 *
 * Throws `LocalError` `invalid_definition` if the resource or the issuers are missing or not https URLs.
 */
export function protectedResource(options: ProtectedResourceOptions): ProtectedResource {
  return new Guarded(options);
}

class Guarded implements ProtectedResource {
  readonly metadata: JsonObject;
  readonly metadataUrl: string;
  readonly document: NonNullable<HttpServerAuth["document"]>;
  readonly #options: ProtectedResourceOptions;
  readonly #verifiers: readonly TokenVerifier[];
  readonly #audience: readonly string[];
  readonly #clock: Clock;
  readonly #proofs: ProofChecker;
  readonly #challenges: ChallengeOptions;

  constructor(options: ProtectedResourceOptions) {
    const { resource, audience = [], dpop = {}, clock = systemClock } = options;
    this.#options = options;
    this.#verifiers = readVerifiers(options.verifier);
    this.#audience = [checkIdentifier("resource", resource), ...audience];
    this.#clock = clock;
    this.#proofs = makeProofChecker(dpop, resource, clock);
    this.metadata = describeResource(options, dpop.required === true);
    this.metadataUrl = metadataUrlOf(options);
    this.document = publish(this.metadata, this.metadataUrl);
    const schemes: Scheme[] = dpop.required ? ["DPoP"] : ["Bearer", "DPoP"];
    this.#challenges = { metadataUrl: this.metadataUrl, schemes, proofAlgorithms };
  }

  authenticate = async (request: AuthenticationRequest, store?: Store): Promise<Principal> => {
    const presented = this.#read(request);
    const { token } = presented;
    try {
      const verified = await this.#verify(token, request);
      await this.#checkBinding(presented, verified, { request, store });
      const principal = this.#principalOf(verified);
      keepToken(principal, token);
      return principal;
    } catch (error) {
      throw await this.#refused(error, presented, request);
    }
  };

  challenge(scopes: readonly string[], request: HttpRequestHead): string {
    const scheme = readPresented(request)?.scheme ?? "Bearer";
    return challengeHeader(this.#challenges, scopes, { scheme, error: "insufficient_scope" });
  }

  /** The headers for a request without a valid token. */
  #challengeHeaders(reason?: Reason): ResponseHeaders {
    return { "www-authenticate": challengeHeader(this.#challenges, this.#options.scopes ?? [], reason) };
  }

  #read(request: HttpRequestHead): PresentedToken {
    let presented: PresentedToken | undefined;
    try {
      presented = readPresented(request);
    } catch (error) {
      if (!(error instanceof BadPresentation)) throw error;
      const reason = { scheme: "Bearer", error: "invalid_request", description: error.message } as const;
      throw new HttpRefusal(400, error.message, { headers: this.#challengeHeaders(reason) });
    }
    if (presented) return presented;
    const why = "A sign-in is needed: send an access token in the Authorization header.";
    throw new HttpRefusal(401, why, { headers: this.#challengeHeaders() });
  }

  async #verify(token: string, request: HttpRequestHead): Promise<VerifiedToken> {
    for (const verifier of this.#verifiers) {
      const verified = await verifier(token, request);
      if (verified) return this.#accepted(verified);
    }
    throw new InvalidToken("The token is by no issuer that is accepted here.");
  }

  /** Checks issuer, audience and lifetime again, because a custom verifier may omit it. */
  #accepted(verified: VerifiedToken): VerifiedToken {
    const { issuer, audience, expiresAt } = verified;
    if (!this.#options.issuers.includes(issuer)) {
      throw new InvalidToken("The token is by no issuer that is accepted here.");
    }
    if (!audience.some((one) => this.#audience.includes(one))) {
      throw new InvalidToken("The token is for another audience.");
    }
    // 300 seconds is the maximum clock difference that a verifier accepts.
    if (expiresAt !== undefined && expiresAt + 300 <= this.#clock.now() / 1000) {
      throw new InvalidToken("The token has expired.");
    }
    return verified;
  }

  async #checkBinding(
    { scheme, token }: PresentedToken,
    { jkt }: VerifiedToken,
    { request, store }: { request: AuthenticationRequest; store: Store | undefined },
  ): Promise<void> {
    if (jkt === undefined) {
      if (this.#options.dpop?.required) throw new InvalidToken("The token must be bound to a key (DPoP).");
      if (scheme === "DPoP") throw new InvalidToken("The token is bound to no key: send it as Bearer.");
      return;
    }
    if (scheme !== "DPoP") throw new InvalidToken("The token is bound to a key: send it as DPoP, with a proof.");
    await this.#proofs.check(request, { token, jkt, store });
    const nonce = await this.#proofs.nonce();
    if (nonce !== undefined) request.decorate({ "dpop-nonce": nonce });
  }

  #principalOf({ issuer, subject, scopes, clientId, claims }: VerifiedToken): Principal {
    const { scopeHierarchy } = this.#options;
    return {
      issuer,
      subject,
      scopes: scopeHierarchy ? withImplied(scopes, scopeHierarchy) : scopes,
      ...(clientId !== undefined && { clientId }),
      ...(claims && { claims }),
    };
  }

  async #refused(error: unknown, { scheme }: PresentedToken, request: AuthenticationRequest): Promise<unknown> {
    if (error instanceof InvalidToken) {
      const reason = { scheme: this.#offered(scheme), error: "invalid_token", description: error.message };
      return new HttpRefusal(401, error.message, { headers: this.#challengeHeaders(reason) });
    }
    if (error instanceof InvalidProof) {
      const nonce = await this.#proofs.nonce();
      if (nonce !== undefined) request.decorate({ "dpop-nonce": nonce });
      const reason = { scheme: "DPoP", error: error.code, description: error.message } as const;
      return new HttpRefusal(401, error.message, { headers: this.#challengeHeaders(reason) });
    }
    return isPassing(error) ? notNow(error) : error;
  }

  #offered(scheme: Scheme): Scheme {
    return this.#options.dpop?.required ? "DPoP" : scheme;
  }
}

function readVerifiers(given: TokenVerifier | readonly TokenVerifier[] | undefined): readonly TokenVerifier[] {
  const verifiers = typeof given === "function" ? [given] : (given ?? []);
  if (verifiers.length > 0 && verifiers.every((one) => typeof one === "function")) return verifiers;
  throw invalid(
    "verifier is required: jwtVerifier({ ... }), introspectionVerifier({ ... }), or a function of your own.",
  );
}

/** Returns whether the validity of the token could not be determined. */
function isPassing(error: unknown): boolean {
  const codes = ["unreachable", "timeout", "store_unavailable"];
  return error instanceof LocalError && codes.includes(error.code);
}

/** The client should try again. A new sign-in would not help. */
function notNow(cause: unknown): HttpRefusal {
  const headers = { "retry-after": "5" };
  return new HttpRefusal(503, "Tokens cannot be checked at the moment. Try again.", { headers, cause });
}

/** Returns the granted scopes and all that they imply, directly or indirectly. */
function withImplied(granted: readonly string[], hierarchy: ScopeHierarchy): readonly string[] {
  const all = new Set(granted);
  // The loop also visits scopes that are added during the iteration.
  for (const scope of all) for (const implied of hierarchy(scope)) all.add(implied);
  return [...all];
}
