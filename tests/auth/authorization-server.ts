import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider, { type ClientMetadata, type Configuration, type JWK, errors } from "oidc-provider";

/** A resource that tokens can be got for: an MCP server, as its authorization server knows it. */
interface KnownResource {
  /** Its scopes, separated by spaces. */
  scope: string;
  /** `jwt` unless given; an opaque token is looked up by introspection. */
  format?: "jwt" | "opaque";
  /** Seconds. An hour unless given. */
  accessTokenTtl?: number;
}

export interface AuthorizationServerOptions {
  /** Registered beforehand, beside those that register themselves. */
  clients?: ClientMetadata[];
  /** Asks for a nonce in each DPoP proof. */
  dpopNonce?: boolean;
  /** Client ID Metadata Documents by client id. They are read from here instead of the web. */
  clientDocuments?: ReadonlyMap<string, object>;
  /** Other options of the provider. */
  configuration?: Configuration;
}

/** An authorization server that runs in this process, on loopback, until it is closed. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** Resources by their identifier, which may be added when their servers listen. */
  readonly resources: Map<string, KnownResource>;
  /** `POST /token` and so on, in the order in which they came. */
  readonly requests: string[];
  /** The parameters of the requests to the token endpoint, in order. */
  readonly tokenRequests: URLSearchParams[];
  readonly provider: Provider;
  /** Awaited before each response of the token endpoint is sent. */
  beforeTokenResponse: (() => Promise<void>) | undefined;
  close(): Promise<void>;
}

/**
 * Starts `oidc-provider` with sign-in and consent on its own pages (see `browser.ts`), dynamic registration, rotation of refresh tokens with revocation of the family at reuse, revocation, introspection, DPoP and resource indicators.
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const http = createServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const resources = new Map<string, KnownResource>();
  const configuration = await configure(resources, options);
  const provider = new Provider(issuer, configuration);
  const requests: string[] = [];
  const tokenRequests: URLSearchParams[] = [];
  provider.use(async (ctx, next) => {
    requests.push(`${ctx.method} ${ctx.path}`);
    if (ctx.method === "POST" && ctx.path === "/reg") Object.assign(ctx.req, { body: await anyScope(ctx.req) });
    await next();
    if (ctx.path !== "/token") return;
    tokenRequests.push(new URLSearchParams(ctx.oidc?.body as Record<string, string>));
    await server.beforeTokenResponse?.();
  });
  const answer = provider.callback();
  http.on("request", (request, response) => void answer(request, response));
  const server: AuthorizationServer = {
    issuer,
    resources,
    requests,
    tokenRequests,
    provider,
    beforeTokenResponse: undefined,
    close: () => closeServer(http),
  };
  return server;
}

async function configure(
  resources: Map<string, KnownResource>,
  options: AuthorizationServerOptions,
): Promise<Configuration> {
  const { clients = [], clientDocuments, configuration = {} } = options;
  const { features, ...rest } = configuration;
  return {
    clients,
    jwks: { keys: [await signingKey("RS256"), await signingKey("ES256")] },
    cookies: { keys: ["of tests alone"] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    clientBasedCORS: () => true,
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? 3600,
      ClientCredentials: (_, token) => token.resourceServer?.accessTokenTTL ?? 3600,
      RefreshToken: 86_400,
      IdToken: 3600,
      Interaction: 3600,
      Session: 86_400,
      Grant: 86_400,
    },
    ...(clientDocuments && { fetch: (url) => Promise.resolve(documentAt(clientDocuments, new Request(url).url)) }),
    ...rest,
    features: { ...featuresOf(resources, options), ...features } as Configuration["features"],
  };
}

function featuresOf(
  resources: Map<string, KnownResource>,
  { dpopNonce, clientDocuments }: AuthorizationServerOptions,
): Configuration["features"] {
  return {
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (_, client) => client.clientAuthMethod !== "none" },
    clientCredentials: { enabled: true },
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 1), requireNonce: () => dpopNonce === true },
    clientIdMetadataDocument: { enabled: clientDocuments !== undefined, ack: "draft-02" },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo(_, indicator) {
        const known = resources.get(indicator);
        if (!known) throw new errors.InvalidTarget(`there is no resource ${indicator}`);
        const { scope, format = "jwt", accessTokenTtl = 3600 } = known;
        return { scope, audience: indicator, accessTokenFormat: format, accessTokenTTL: accessTokenTtl };
      },
    },
  };
}

async function signingKey(alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: "sig", kid: `${alg}-1` };
}

/**
 * Reads a registration without the scopes that it names, as RFC 7591 lets an authorization server do: the official clients
 * name those of their first request, and would be held to them when they need more.
 */
async function anyScope(request: AsyncIterable<Buffer>): Promise<object> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { scope: _, ...metadata } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
  return metadata;
}

function documentAt(documents: ReadonlyMap<string, object>, url: string): Response {
  const document = documents.get(url);
  return document ? Response.json(document) : new Response("not found", { status: 404 });
}

async function closeServer(http: Server): Promise<void> {
  http.closeAllConnections();
  http.close();
  await once(http, "close");
}
