import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { errors } from "oidc-provider";

interface ProtectedResource {
  /** The URL of the MCP server. */
  resource: string;
  /** The scopes that it knows, separated by spaces. */
  scopes: string;
}

/**
 * Starts an authorization server on loopback, and returns its issuer. It is for trying only: it accepts every user name
 * with every password, and forgets everything when it ends.
 */
export async function startAuthorizationServer({ resource, scopes }: ProtectedResource): Promise<string> {
  const http = createServer().listen(0, "127.0.0.1");
  await once(http, "listening");
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    features: {
      // MCP clients register themselves, and name the MCP server as the resource of their tokens.
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, indicator) {
          if (indicator !== resource) throw new errors.InvalidTarget(`Unknown resource: ${indicator}`);
          return { scope: scopes, audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 3600 };
        },
      },
    },
  });
  const handle = provider.callback();
  http.on("request", (request, response) => void handle(request, response));
  return issuer;
}
