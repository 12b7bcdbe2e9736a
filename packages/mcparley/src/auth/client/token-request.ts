import type { AuthorizationServer, ClientAuth, TokenEndpointResponse } from "oauth4webapi";
import { LocalError } from "../../jsonrpc/errors.ts";
import { redact } from "../../jsonrpc/redact.ts";
import { type DpopProver, withNonce } from "./dpop.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";

/** The grant by an assertion (RFC 7523, 2.1). */
export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** A grant, and who asks which token endpoint for a token by it. */
export interface TokenRequest {
  metadata: AuthorizationServer;
  clientId: string;
  authenticate: ClientAuth;
  /** The `grant_type`. */
  grant: string;
  parameters: Readonly<Record<string, string | undefined>>;
  /** Binds the token to a key. */
  prover?: DpopProver | undefined;
  /** Types of token besides `bearer` and `dpop` that are good, in lower case. */
  tokenTypes?: readonly string[];
  fetch: GuardedFetch;
  signal?: AbortSignal | undefined;
}

/**
 * Asks a token endpoint once, and once more where it wants its nonce in the proof.
 *
 * Throws `LocalError` `authorization_failed` where it refuses, with its code as `data.error`, and where its answer is no
 * token; what the guarded fetch throws where there is no answer. No error holds a token or what was asked with.
 */
export async function requestToken(request: TokenRequest): Promise<TokenEndpointResponse> {
  const { metadata, clientId, authenticate, grant, prover, signal, tokenTypes = [] } = request;
  const { allowInsecureRequests, customFetch, genericTokenEndpointRequest, processGenericTokenEndpointResponse } =
    await import("oauth4webapi");
  const client = { client_id: clientId };
  const given = Object.entries(request.parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const options = {
    // The guarded fetch allows it on this machine alone.
    [allowInsecureRequests]: true,
    [customFetch]: request.fetch,
    ...(prover && { DPoP: prover.handle }),
    ...(signal && { signal }),
  };
  const recognizedTokenTypes = Object.fromEntries(tokenTypes.map((type) => [type, () => {}]));
  const ask = async (): Promise<TokenEndpointResponse> => {
    const sent = genericTokenEndpointRequest(metadata, client, authenticate, grant, given, options);
    return processGenericTokenEndpointResponse(metadata, client, await sent, { recognizedTokenTypes });
  };
  try {
    return await withNonce(ask);
  } catch (error) {
    throw await tokenError(metadata.issuer, error);
  }
}

/** What is told of a failed request for a token. The library's own errors hold the response, with tokens and all. */
export async function tokenError(issuer: string, error: unknown): Promise<LocalError> {
  if (error instanceof LocalError) return error;
  const { ResponseBodyError, WWWAuthenticateChallengeError } = await import("oauth4webapi");
  const data: { issuer: string; error?: string } = { issuer };
  let why = "gave an answer that is no token";
  if (error instanceof ResponseBodyError) {
    data.error = redact(error.error);
    const said = error.error_description === undefined ? "" : `: ${redact(error.error_description.slice(0, 500))}`;
    why = `refuses a token (${data.error})${said}`;
  } else if (error instanceof WWWAuthenticateChallengeError) {
    why = `refuses a token (${error.status})`;
  } else if (error instanceof Error) {
    why += `: ${redact(error.message)}`;
  }
  return new LocalError("authorization_failed", `The authorization server ${issuer} ${why}`, { data });
}
