import {
  McpServer,
  OAuthError,
  OAuthErrorCode,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  oauthMetadataResponse,
  requireBearerAuth,
  requireScopes,
} from "@modelcontextprotocol/server";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { AuthorizationServer } from "./authorization-server.ts";

/** A server of the official SDK v2, protected as its documentation recommends, with tokens of another issuer. */
export interface OfficialResource {
  readonly url: string;
  /** Reaches the server in this process, and everything else by the network. */
  readonly fetch: typeof fetch;
}

export async function serveOfficial(as: AuthorizationServer): Promise<OfficialResource> {
  const url = new URL("http://127.0.0.1:9/mcp");
  as.resources.set(url.href, { scope: "notes:read notes:write" });
  const answer = await fetch(`${as.issuer}/.well-known/oauth-authorization-server`);
  const metadata = {
    oauthMetadata: (await answer.json()) as Parameters<typeof oauthMetadataResponse>[1]["oauthMetadata"],
    resourceServerUrl: url,
  };
  const keys = createRemoteJWKSet(new URL(`${as.issuer}/jwks`));
  const gate = requireBearerAuth({
    verifier: {
      async verifyAccessToken(token) {
        const { payload } = await jwtVerify(token, keys, { issuer: as.issuer, audience: url.href }).catch(() => {
          throw new OAuthError(OAuthErrorCode.InvalidToken, "It is not good");
        });
        const {
          client_id: clientId,
          scope,
          exp,
          sub,
        } = payload as { client_id: string; scope: string } & typeof payload;
        const extra = { subject: sub };
        return { token, clientId, scopes: scope.split(" "), expiresAt: exp ?? 0, resource: url, extra };
      },
    },
    requiredScopes: ["notes:read"],
    expectedResource: url,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url),
  });
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: "official", version: "2.0.0" });
    server.registerTool("whoami", {}, (context) => ({
      content: [{ type: "text", text: String(context.http?.authInfo?.extra?.subject) }],
    }));
    const scopeChallenge = requireScopes("notes:write");
    server.registerTool("write", { scopeChallenge }, () => ({ content: [{ type: "text", text: "written" }] }));
    return server;
  });
  return {
    url: url.href,
    async fetch(input, init) {
      const request = new Request(input, init);
      if (new URL(request.url).origin !== url.origin) return fetch(request);
      const document = oauthMetadataResponse(request, metadata);
      if (document) return document;
      const authInfo = await gate(request);
      return authInfo instanceof Response ? authInfo : mcp.fetch(request, { authInfo });
    },
  };
}
