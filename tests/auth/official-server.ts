import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import type { OAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { InvalidGrantError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthClientInformationFull } from "@modelcontextprotocol/sdk/shared/auth.js";

export interface OfficialServer {
  readonly url: string;
  /** The client's requests, as `POST /token`. */
  readonly requests: string[];
  /** Makes every access token bad from now on. */
  expireAll(): void;
  close(): Promise<void>;
}

/** An official server (v1) that is its own authorization server, configured like its documentation. */
export async function startOfficialServer(): Promise<OfficialServer> {
  const http = createServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  const origin = new URL(`http://127.0.0.1:${port}`);
  const url = new URL("/mcp", origin);
  const live = new Set<string>();
  const provider = providerOf(live);
  const app = createMcpExpressApp();
  const limits = { rateLimit: false } as const;
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl: origin,
      resourceServerUrl: url,
      scopesSupported: ["mcp:tools"],
      authorizationOptions: limits,
      clientRegistrationOptions: limits,
      tokenOptions: limits,
      revocationOptions: limits,
    }),
  );
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  const guard = requireBearerAuth({ verifier: provider, requiredScopes: ["mcp:tools"], resourceMetadataUrl });
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 awaits its handlers
  app.post("/mcp", guard, async (request, response) => {
    const server = new McpServer({ name: "official", version: "1.0.0" });
    server.registerTool("whoami", {}, ({ authInfo }) => ({
      content: [{ type: "text", text: `${authInfo?.clientId} for ${authInfo?.resource?.href}` }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  const requests: string[] = [];
  http.on("request", (request, response) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    app(request, response);
  });
  return {
    url: url.href,
    requests,
    expireAll: () => live.clear(),
    async close() {
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}

interface Issued {
  clientId: string;
  scopes: string[];
  resource: URL | undefined;
  challenge: string;
}

/** Signs everybody in without a question. */
function providerOf(live: Set<string>): OAuthServerProvider {
  const clients = new Map<string, OAuthClientInformationFull>();
  const issued = new Map<string, Issued>();
  const take = (key: string): Issued => {
    const found = issued.get(key);
    if (!found) throw new InvalidGrantError("it is not known, or was used before");
    issued.delete(key);
    return found;
  };
  const give = (to: Issued) => {
    const [accessToken, refreshToken] = [randomUUID(), randomUUID()];
    issued.set(accessToken, to);
    issued.set(refreshToken, to);
    live.add(accessToken);
    const scope = to.scopes.join(" ");
    const tokens = {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: "bearer",
      expires_in: 3600,
      scope,
    };
    return Promise.resolve(tokens);
  };
  return {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient(client) {
        const full = client as OAuthClientInformationFull;
        clients.set(full.client_id, full);
        return full;
      },
    },
    async authorize(
      { client_id: clientId },
      { codeChallenge: challenge, redirectUri, state, scopes = [], resource },
      response,
    ) {
      const code = randomUUID();
      issued.set(code, { clientId, challenge, scopes, resource });
      const back = new URL(redirectUri);
      back.search = new URLSearchParams({ code, ...(state !== undefined && { state }) }).toString();
      response.redirect(back.href);
      await Promise.resolve();
    },
    challengeForAuthorizationCode: (_, code) => Promise.resolve(issued.get(code)?.challenge ?? ""),
    exchangeAuthorizationCode: (_, code) => give(take(code)),
    exchangeRefreshToken: (_, token) => give(take(token)),
    verifyAccessToken(token) {
      const found = live.has(token) ? issued.get(token) : undefined;
      if (!found) return Promise.reject(new InvalidTokenError("it is no longer valid"));
      const { clientId, scopes, resource } = found;
      const expiresAt = Math.floor(Date.now() / 1000) + 3600;
      return Promise.resolve({ token, clientId, scopes, expiresAt, ...(resource && { resource }) });
    },
    revokeToken(_, { token }) {
      live.delete(token);
      issued.delete(token);
      return Promise.resolve();
    },
  };
}
