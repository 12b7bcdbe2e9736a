import * as oauth from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCredential } from "../client-credential.ts";
import { toAuthorizationError } from "../client/oauth-error.ts";
import { normalizeResponse } from "../issuer-document.ts";
import { issuerClient } from "./issuer.ts";
import { issuerUnavailable } from "./verified-token.ts";

/** Returns the claims of a token. Rejects with `LocalError` `unreachable` if the issuer does not respond. */
export type Introspect = (token: string) => Promise<JsonObject>;

interface IntrospectionSettings {
  issuer: string;
  client: ClientCredential;
  /** Default: the one in the issuer's metadata. */
  endpoint: string | undefined;
  fetch: typeof fetch | undefined;
  clock: Clock;
}

/** Makes the function that introspects tokens. In a file of its own, because it loads oauth4webapi. */
export function introspection(settings: IntrospectionSettings): Introspect {
  const { issuer, client: credential, endpoint, fetch, clock } = settings;
  const prepare = issuerClient({
    issuer,
    client: credential,
    clock,
    ...(fetch && { fetch }),
    endpoint: endpoint === undefined ? undefined : { introspection_endpoint: endpoint },
  });
  return async (token) => {
    const { server, client, authentication, options } = await prepare();
    try {
      const response = await oauth.introspectionRequest(server, client, authentication, token, {
        ...options,
        additionalParameters: { token_type_hint: "access_token" },
      });
      return await oauth.processIntrospectionResponse(server, client, await normalizeResponse(response));
    } catch (error) {
      const secrets = [token, credential.secret ?? ""];
      const cause = await toAuthorizationError(error, { issuer, what: "to introspect a token", secrets });
      throw cause.code === "authorization_failed"
        ? new LocalError("unreachable", cause.message, { cause })
        : issuerUnavailable(issuer, "did not respond to the introspection request", cause);
    }
  };
}
