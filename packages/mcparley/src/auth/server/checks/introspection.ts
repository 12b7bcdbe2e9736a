import * as oauth from "oauth4webapi";
import type { Clock } from "../../../rpc/clock.ts";
import { LocalError, isTransient } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import type { ClientCredential } from "../../client-credential.ts";
import { isClientRefusal } from "../../client/oauth-error.ts";
import { normalizeResponse } from "../../issuer-document.ts";
import type { IntrospectionVerifierOptions } from "../options.ts";
import { issuerUnavailable } from "../verified-token.ts";
import { issuerClient } from "./issuer.ts";

/**
 * Returns the function that reads the claims of a token. It rejects with `LocalError`: `unreachable` if the issuer does not respond,
 * `authorization_failed` if the issuer refuses the request or its response is invalid.
 */
export function introspection(
  options: IntrospectionVerifierOptions & { clock: Clock },
): (token: string) => Promise<JsonObject> {
  const { issuer, client: credential } = options;
  const sendAs = issuerClient(options, "introspection_endpoint", options.endpoint);
  return (token) =>
    sendAs({ token, what: "to introspect a token" }, async (as, requestOptions) => {
      const [server, client] = as;
      if (!server.introspection_endpoint) throw withoutEndpoint(issuer);
      const more = { ...requestOptions, additionalParameters: { token_type_hint: "access_token" } };
      const response = await oauth.introspectionRequest(...as, token, more);
      return oauth.processIntrospectionResponse(server, client, await normalizeResponse(response));
    }).catch((error: LocalError) => {
      throw toIntrospectionError(error, issuer, credential);
    });
}

function withoutEndpoint(issuer: string): LocalError {
  const message = `The authorization server ${issuer} has no introspection_endpoint in its metadata.`;
  return new LocalError("authorization_failed", `${message} Set the option endpoint of introspectionVerifier.`);
}

/** Distinguishes an issuer that is unavailable from one that refuses this server, which only its operator can correct. */
function toIntrospectionError(error: LocalError, issuer: string, { id }: ClientCredential): LocalError {
  const { code, data, message } = error;
  const { status } = isObject(data) ? data : {};
  if (status === 401 || status === 403 || isClientRefusal(error)) {
    const fact = `The authorization server ${issuer} refused the client ${JSON.stringify(id)} of this server`;
    const text = `${fact}, so its tokens cannot be checked. Check the option client. ${message}`;
    return new LocalError("authorization_failed", text, { data });
  }
  if (code === "authorization_failed" && !isTransient(status)) return error;
  return issuerUnavailable(issuer, "did not respond to the introspection request", error);
}
