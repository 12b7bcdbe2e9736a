import type { HttpRequestHead } from "../../http/exchange.ts";
import { HttpRefusal } from "../../http/server/refusal.ts";
import type { AuthenticationRequest, HttpServerAuth } from "../../http/server/options.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Principal } from "../../server/core/context.ts";
import {
  type ChallengeOptions,
  type PresentedToken,
  type Reason,
  challengeHeader,
  readPresented,
} from "./authorization-headers.ts";
import { checkClaims } from "./claims.ts";
import { type ProofChecker, makeProofChecker } from "./dpop.ts";
import { checkIdentifier, checkVerifiers, invalid } from "./option-checks.ts";
import type { DpopOptions } from "./options.ts";
import { type ResourceDescription, describeResource, metadataUrlOf, publish } from "./published-metadata.ts";
import {
  InvalidProof,
  InvalidToken,
  principalTokens,
  proofAlgorithms,
  type TokenVerifier,
  type VerifiedToken,
} from "./verified-token.ts";

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
 * If `listen` selects the port, pass a function: it receives the URL of the endpoint and returns the options.
 *
 * Throws `LocalError` `invalid_definition` if the resource or the issuers are missing or not https URLs. With a function, `listen`
 * rejects with it.
 *
 * @example
 * ```ts
 * import { jwtVerifier, protectedResource } from "mcparley/auth";
 * import { listen } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * const issuer = "https://auth.example.com";
 * const resource = "https://example.com/mcp";
 * const verifier = jwtVerifier({ issuer, audience: resource });
 * const auth = protectedResource({ resource, issuers: [issuer], scopes: ["notes:read"], verifier });
 * await listen(createServer({ name: "notes", version: "1.0.0" }), { port: 3000, auth });
 * ```
 *
 * @example A server on a free port.
 * ```ts
 * import { jwtVerifier, protectedResource } from "mcparley/auth";
 * import { listen } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * const issuer = "https://auth.example.com";
 * const auth = protectedResource((resource) => ({
 *   resource,
 *   issuers: [issuer],
 *   verifier: jwtVerifier({ issuer, audience: resource }),
 * }));
 * await listen(createServer({ name: "notes", version: "1.0.0" }), { port: 0, auth });
 * ```
 */
export function protectedResource(
  options: ProtectedResourceOptions | ((url: string) => ProtectedResourceOptions),
): ProtectedResource {
  return typeof options === "function" ? protectedWhenListening(options) : protectedAt(options);
}

/** Makes the protection of a resource whose URL is known when `listen` has opened its port. */
function protectedWhenListening(optionsOf: (url: string) => ProtectedResourceOptions): ProtectedResource {
  let openedResource: ProtectedResource | undefined;
  const resource = (): ProtectedResource => {
    if (openedResource) return openedResource;
    throw invalid("The URL of the resource is not known before `listen` has opened its port.");
  };
  return {
    get metadata() {
      return resource().metadata;
    },
    get metadataUrl() {
      return resource().metadataUrl;
    },
    listening(url) {
      if (openedResource)
        throw invalid("protectedResource with a function is for one `listen`. Make another one for each.");
      openedResource = protectedAt(optionsOf(url));
    },
    document: (request) => resource().document?.(request),
    match: (request) => resource().match?.(request),
    challenge: (scopes, request) => resource().challenge?.(scopes, request),
    authenticate: (request, store) => resource().authenticate(request, store),
  };
}

function protectedAt(options: ProtectedResourceOptions): ProtectedResource {
  const { resource, issuers, audience = [], scopes = [], dpop = {}, clock = systemClock } = options;
  const verifiers = checkVerifiers(options.verifier);
  const audiences = [checkIdentifier("resource", resource), ...audience];
  const proofs = makeProofChecker(dpop, resource, clock);
  const metadata = describeResource(options, dpop.required === true);
  const metadataUrl = metadataUrlOf(options);
  const challenges: ChallengeOptions = {
    metadataUrl,
    schemes: dpop.required ? ["DPoP"] : ["Bearer", "DPoP"],
    proofAlgorithms,
  };
  const refuse: Refuse = (status, message, reason) =>
    new HttpRefusal(status, message, {
      headers: { "www-authenticate": challengeHeader(challenges, scopes, reason) },
      cause: reason?.cause,
    });

  return {
    metadata,
    metadataUrl,
    document: publish(metadata, metadataUrl),
    match: (request) => readPresented(request) && "possible",
    challenge(requiredScopes, request) {
      const scheme = readPresented(request)?.scheme ?? "Bearer";
      return challengeHeader(challenges, requiredScopes, { scheme, error: "insufficient_scope" });
    },
    async authenticate(request, store) {
      const presentedToken = readToken(request, refuse);
      try {
        const verifiedToken = await verify(verifiers, presentedToken.token, request);
        checkClaims(verifiedToken, { issuers, audiences, now: clock.now() / 1000 });
        const jkt = boundKey(verifiedToken, presentedToken, dpop.required === true);
        if (jkt !== undefined) {
          await proofs.check(request, { token: presentedToken.token, jkt, store });
          await sendNonce(proofs, request);
        }
        const principal = principalOf(verifiedToken, options.scopeHierarchy);
        principalTokens.set(principal, presentedToken.token);
        return principal;
      } catch (error) {
        if (error instanceof InvalidToken) {
          const scheme = dpop.required ? "DPoP" : presentedToken.scheme;
          const { message, cause } = error;
          throw refuse(401, message, { scheme, error: "invalid_token", description: message, cause });
        }
        if (error instanceof InvalidProof) {
          await sendNonce(proofs, request);
          const { message, code, cause } = error;
          throw refuse(401, message, { scheme: "DPoP", error: code, description: message, cause });
        }
        const couldNotCheck = ["unreachable", "timeout", "store_unavailable", "authorization_failed"];
        if (!(error instanceof LocalError) || !couldNotCheck.includes(error.code)) throw error;
        // A new sign-in would not help.
        const message = "Tokens cannot be checked at the moment. Try again later.";
        throw new HttpRefusal(503, message, { headers: { "retry-after": "5" }, cause: error });
      }
    },
  };
}

/** Makes a refusal with the challenges of the resource. `reason` is undefined if the request has no token. */
type Refuse = (status: number, message: string, reason?: Reason) => HttpRefusal;

function readToken(request: HttpRequestHead, refuse: Refuse): PresentedToken {
  const presentedToken = readPresented(request);
  if (!presentedToken)
    throw refuse(401, "Authorization is required: send an access token in the Authorization header.");
  const { scheme, problem } = presentedToken;
  if (problem === undefined) return presentedToken;
  throw refuse(400, problem, { scheme, error: "invalid_request", description: problem });
}

/** Returns the result of the first verifier that knows the token. */
async function verify(
  verifiers: readonly TokenVerifier[],
  token: string,
  request: HttpRequestHead,
): Promise<VerifiedToken> {
  for (const verifier of verifiers) {
    const verifiedToken = await verifier(token, request);
    if (verifiedToken) return verifiedToken;
  }
  throw new InvalidToken("The issuer of the token is not accepted.");
}

/**
 * Returns the thumbprint of the key to which the token is bound. Undefined if it is not bound. Throws `InvalidToken` if the
 * scheme does not match, or if a required binding is missing.
 */
function boundKey({ jkt }: VerifiedToken, { scheme }: PresentedToken, isRequired: boolean): string | undefined {
  if (jkt !== undefined) {
    if (scheme === "DPoP") return jkt;
    throw new InvalidToken("The token is bound to a key: send it with the scheme DPoP and a proof.");
  }
  if (isRequired) throw new InvalidToken("The token must be bound to a key (DPoP).");
  if (scheme === "DPoP") throw new InvalidToken("The token is not bound to a key: send it with the scheme Bearer.");
  return undefined;
}

/** Adds the nonce for the client's next proof to the response. */
async function sendNonce(proofs: ProofChecker, request: AuthenticationRequest): Promise<void> {
  const nonce = await proofs.nonce();
  if (nonce !== undefined) request.decorate({ "dpop-nonce": nonce });
}

function principalOf(
  { issuer, subject, scopes, clientId, claims }: VerifiedToken,
  scopeHierarchy: ScopeHierarchy | undefined,
): Principal {
  return {
    issuer,
    subject,
    scopes: scopeHierarchy ? withImplied(scopes, scopeHierarchy) : scopes,
    ...(clientId !== undefined && { clientId }),
    ...(claims && { claims }),
  };
}

/** Returns the granted scopes and all that they imply, directly or indirectly. */
function withImplied(grantedScopes: readonly string[], hierarchy: ScopeHierarchy): readonly string[] {
  const all = new Set(grantedScopes);
  // The loop also visits scopes that are added during the iteration.
  for (const scope of all) for (const impliedScope of hierarchy(scope)) all.add(impliedScope);
  return [...all];
}
