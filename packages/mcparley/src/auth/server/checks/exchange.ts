import * as oauth from "oauth4webapi";
import type { Clock } from "../../../rpc/clock.ts";
import { LocalError, isTransient } from "../../../rpc/errors.ts";
import { isObject } from "../../../rpc/messages.ts";
import { normalizeResponse } from "../../issuer-document.ts";
import { wrongAudience } from "../../token-audience.ts";
import type { TokenExchangeOptions, UpstreamToken } from "../options.ts";
import type { CachedResponse } from "../request-cache.ts";
import { noUpstreamToken } from "../verified-token.ts";
import { issuerClient } from "./issuer.ts";

const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
/** Minimum remaining lifetime of a token in milliseconds, so that it does not expire during a request. */
const reserve = 30_000;
/** Milliseconds for which a token without a stated lifetime is cached. Some servers write 0 for it. */
const defaultLifetime = 60_000;

/** Returns the function that exchanges the token of a caller. */
export function exchange(
  options: TokenExchangeOptions & { clock: Clock },
  parameters: Readonly<Record<string, string>>,
): (token: string) => Promise<CachedResponse<UpstreamToken>> {
  const { issuer, clock, resource, audience } = options;
  const recipients = [resource, audience].filter((name) => name !== undefined);
  const sendAs = issuerClient(options, "token_endpoint", options.tokenEndpoint);
  return async (token) => {
    const tokens = await sendAs({ token, what: "to exchange a token" }, async (as, requestOptions) => {
      const all = { ...parameters, subject_token: token };
      const response = await oauth.genericTokenEndpointRequest(...as, grantType, all, requestOptions);
      const [server, client] = as;
      return oauth.processGenericTokenEndpointResponse(server, client, await normalizeResponse(response), {
        recognizedTokenTypes: { n_a: () => {} },
      });
    }).catch((error: LocalError) => {
      throw toExchangeError(error);
    });
    const { access_token: upstream, expires_in: seconds, scope } = tokens;
    const audienceError = wrongAudience(upstream, recipients);
    if (audienceError !== undefined) throw noUpstreamToken(`${audienceError}.`, { issuer });
    const expiresAt = clock.now() + (seconds ? seconds * 1000 - reserve : defaultLifetime);
    return { value: { token: upstream, scopes: scope?.split(" ") }, expiresAt };
  };
}

/** Returns the error for a failed request. An issuer that is temporarily unavailable has not refused the exchange. */
function toExchangeError({ code, message, data }: LocalError): LocalError {
  if (code !== "authorization_failed") return new LocalError(code, message, { data });
  const isUnavailable = isObject(data) && isTransient(data.status);
  return isUnavailable ? new LocalError("unreachable", message, { data }) : noUpstreamToken(message, data);
}
