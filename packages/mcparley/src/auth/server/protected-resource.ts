import type { RequestHead } from "../../http/exchange.ts";
import { HttpRefusal } from "../../http/server/refusal.ts";
import type { AskedRequest, HttpServerAuth } from "../../http/server/server-auth.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Principal } from "../../server/dispatch/context.ts";
import type { Store } from "../../store/store.ts";
import { Challenges } from "./challenges.ts";
import { type DpopOptions, makeProofs } from "./dpop-options.ts";
import { type DpopProofs, InvalidProof, proofAlgorithms } from "./dpop-proofs.ts";
import { checkIdentifier, invalid } from "./identifiers.ts";
import { BadPresentation, type PresentedToken, type Scheme, readPresented } from "./presented-token.ts";
import { publish } from "./published-metadata.ts";
import { type ResourceDescription, describeResource, metadataUrlOf, pathsOf } from "./resource-description.ts";
import { type ScopeHierarchy, withImplied } from "./scope-hierarchy.ts";
import { keepToken } from "./subject-tokens.ts";
import { InvalidToken, type TokenVerifier, type VerifiedToken } from "./verified-token.ts";

export interface ProtectedResourceOptions extends ResourceDescription {
  /** Says what tokens are worth. Several are asked in order, until one knows the token. */
  verifier: TokenVerifier | readonly TokenVerifier[];
  /** Whom tokens may be for beside the resource itself, as authorization servers that know it by another name say it. */
  audience?: readonly string[];
  /** What a scope implies, so that whoever holds the broader needs not the narrower. Nothing unless given. */
  scopeHierarchy?: ScopeHierarchy;
  /** How tokens that are bound to a key (RFC 9449) are checked. They are taken beside others unless given. */
  dpop?: DpopOptions;
  clock?: Clock;
}

/** What `protectedResource` makes: the `auth` of an endpoint, and what it publishes. */
export interface ProtectedResource extends HttpServerAuth {
  /** What is published (RFC 9728), for where this server does not get to serve it itself. */
  readonly metadata: JsonObject;
  /** Where clients are told that the metadata is. */
  readonly metadataUrl: string;
}

/**
 * Protects an endpoint as an OAuth resource (2026-07-28, authorization): `listen(server, { auth: protectedResource({ ... }) })`.
 *
 * Every request needs a token for this resource, by one of the issuers, in its `Authorization` header. The metadata that
 * tells clients where to sign in is served at its path and at the root. Who is authenticated is `ctx.principal`, with the
 * claims of the token and without the token.
 *
 * Throws `LocalError` `invalid_definition` for a resource or issuers that are missing or no https URLs.
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
  readonly #proofs: DpopProofs;
  readonly #challenges: Challenges;

  constructor(options: ProtectedResourceOptions) {
    const { resource, scopes = [], audience = [], dpop = {}, clock = systemClock } = options;
    this.#options = options;
    this.#verifiers = readVerifiers(options.verifier);
    this.#audience = [checkIdentifier("resource", resource), ...audience];
    this.#clock = clock;
    this.#proofs = makeProofs(dpop, resource, clock);
    this.metadata = describeResource(options, dpop.required === true);
    this.metadataUrl = metadataUrlOf(options);
    this.document = publish(this.metadata, pathsOf(this.metadataUrl));
    const schemes: Scheme[] = dpop.required ? ["DPoP"] : ["Bearer", "DPoP"];
    this.#challenges = new Challenges({ metadataUrl: this.metadataUrl, schemes, scopes, proofAlgorithms });
  }

  authenticate = async (request: AskedRequest, store?: Store): Promise<Principal> => {
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

  challenge(scopes: readonly string[], request: RequestHead): string {
    return this.#challenges.insufficient(scopes, readPresented(request)?.scheme ?? "Bearer");
  }

  #read(request: RequestHead): PresentedToken {
    let presented: PresentedToken | undefined;
    try {
      presented = readPresented(request);
    } catch (error) {
      if (!(error instanceof BadPresentation)) throw error;
      const reason = { scheme: "Bearer", error: "invalid_request", description: error.message } as const;
      throw new HttpRefusal(400, error.message, { headers: this.#challenges.headers(reason) });
    }
    if (presented) return presented;
    const why = "A sign-in is needed: send an access token in the Authorization header.";
    throw new HttpRefusal(401, why, { headers: this.#challenges.headers() });
  }

  async #verify(token: string, request: RequestHead): Promise<VerifiedToken> {
    for (const verifier of this.#verifiers) {
      const verified = await verifier(token, request);
      if (verified) return this.#accepted(verified);
    }
    throw new InvalidToken("The token is by no issuer that is accepted here.");
  }

  /** Checks what must hold whoever verified the token, since one function may forget it. */
  #accepted(verified: VerifiedToken): VerifiedToken {
    const { issuer, audience, expiresAt } = verified;
    if (!this.#options.issuers.includes(issuer)) {
      throw new InvalidToken("The token is by no issuer that is accepted here.");
    }
    if (!audience.some((one) => this.#audience.includes(one))) {
      throw new InvalidToken("The token is for another audience.");
    }
    // Verifiers allow for clocks that are apart, at most by this.
    if (expiresAt !== undefined && expiresAt + 300 <= this.#clock.now() / 1000) {
      throw new InvalidToken("The token has expired.");
    }
    return verified;
  }

  async #checkBinding(
    { scheme, token }: PresentedToken,
    { jkt }: VerifiedToken,
    { request, store }: { request: AskedRequest; store: Store | undefined },
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

  async #refused(error: unknown, { scheme }: PresentedToken, request: AskedRequest): Promise<unknown> {
    if (error instanceof InvalidToken) {
      const reason = { scheme: this.#offered(scheme), error: "invalid_token", description: error.message };
      return new HttpRefusal(401, error.message, { headers: this.#challenges.headers(reason) });
    }
    if (error instanceof InvalidProof) {
      const nonce = await this.#proofs.nonce();
      if (nonce !== undefined) request.decorate({ "dpop-nonce": nonce });
      const reason = { scheme: "DPoP", error: error.code, description: error.message } as const;
      return new HttpRefusal(401, error.message, { headers: this.#challenges.headers(reason) });
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

/** Whether nobody could be asked, which says nothing of the token. */
function isPassing(error: unknown): boolean {
  const codes = ["unreachable", "timeout", "store_unavailable"];
  return error instanceof LocalError && codes.includes(error.code);
}

/** A sign-in would not help, so that the client is not told to. */
function notNow(cause: unknown): HttpRefusal {
  const headers = { "retry-after": "5" };
  return new HttpRefusal(503, "Tokens cannot be checked at the moment. Try again.", { headers, cause });
}
