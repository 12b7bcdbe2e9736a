import * as oauth from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCredential } from "../client-credential.ts";
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
export function introspection({ issuer, client, endpoint, fetch, clock }: IntrospectionSettings): Introspect {
  const prepare = issuerClient({
    issuer,
    client,
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
      return await oauth.processIntrospectionResponse(server, client, response);
    } catch (cause) {
      throw issuerUnavailable(issuer, "did not respond to the introspection request", cause);
    }
  };
}
