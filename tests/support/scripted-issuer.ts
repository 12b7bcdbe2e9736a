import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";

/** A request to a token endpoint, and its response. */
interface Grant {
  clientId: string;
  scope: string;
  redirectUri: string;
  challenge: string;
}

/**
 * An MCP server and its authorization server, in one `fetch`, that keep to the rules: PKCE is checked, codes and refresh
 * tokens are good once, and clients have to be registered. A test changes the members that it needs.
 */
export interface ScriptedIssuer {
  fetch: typeof fetch;
  /** The metadata of the authorization server. The issuer is the origin of its documents. */
  metadata: JsonObject;
  resourceMetadata: JsonObject | undefined;
  /** The parameters of the next challenge, `scope="a"`; the metadata is always named in it. */
  challenge: string;
  /** The claims that a request to the MCP server needs in its token. */
  requiredScopes: string[];
  /** Seconds. */
  lifetime: number;
  /**
   * Whether clients are authenticated as by the issuers of the Python SDK: by the `client_id` in the form, and then by the
   * registered method alone. Otherwise a registered `client_id` is enough.
   */
  isStrict: boolean;
  /** The `token_endpoint_auth_method` of new clients. That of the registration request unless given. */
  registeredMethod: string | undefined;
  /** Whether registrations can be read and deleted (RFC 7592). Each response to such a read has a new access token. */
  managesClients: boolean;
  /** The redirect URIs of authorization requests that are accepted: any, registered ones, or those of any port of loopback. */
  redirectUris: "any" | "registered" | "any port";
  /** Answers in place of the endpoint of pushed authorization requests if it returns a response. */
  answerPush: ((parameters: URLSearchParams) => Response | undefined) | undefined;
  /** Answers in place of the token endpoint if it returns a response. */
  answerToken: ((parameters: URLSearchParams) => Response | Promise<Response> | undefined) | undefined;
  /** Changes a response of the authorization server. */
  rewrite: ((response: Response, request: RewrittenRequest) => Response | Promise<Response>) | undefined;
  /** Every request but those to the MCP server: `POST https://as.example/token`. */
  readonly asked: string[];
  readonly registrations: JsonObject[];
  readonly authorizations: URLSearchParams[];
  /** The requests to the endpoint of pushed authorization requests (RFC 9126), which a test names in the metadata. */
  readonly pushedRequests: Request[];
  readonly tokenRequests: URLSearchParams[];
  /** The `Authorization` of each token request. */
  readonly tokenAuthorizations: (string | undefined)[];
  /** The access tokens that are good, with their scopes. */
  readonly live: Map<string, string>;
  readonly clients: Set<string>;
  /** The registered members of clients. A test adds those of a client that was registered by hand. */
  readonly credentials: Map<string, { method: string; secret?: string; redirectUri?: string }>;
  /** The requests to the revocation endpoint, also refused ones. */
  readonly revocationRequests: URLSearchParams[];
  readonly revoked: string[];
  /** The URLs that a person was sent to. */
  readonly visits: URL[];
  /** A person who consents to everything. */
  person(habits?: Habits): Person;
  /** Moves to another authorization server, which has no registered clients and users. */
  migrate(issuer: string): void;
}

/** The request of a response that is changed. */
interface RewrittenRequest {
  /** The path, such as `/token`. */
  path: string;
  /** The parameters of a request to the token endpoint or the revocation endpoint. */
  parameters: URLSearchParams;
}

interface Habits {
  /** http://127.0.0.1:7777/callback unless given. */
  redirectUri?: string;
  /** Changes the redirect URL of the user. */
  back?: (url: URL) => URL | Promise<URL>;
}

/** A way to sign in, for a client. */
interface Person {
  prepare(): Promise<{ redirectUri: string; visit(url: URL): Promise<URL>; close(): Promise<void> }>;
}

export const serverUrl = "https://mcp.example/mcp";

interface IssuerOptions {
  /** The URL of the MCP server, whose path is `/mcp`. Default: `serverUrl`. */
  server?: string;
  /** The issuer. Default: https://as.example. */
  issuer?: string;
  /** Answers the requests to the MCP server with a good token. Default: status 202. */
  serve?: (request: Request) => Promise<Response>;
}

/** Makes an MCP server and its authorization server. */
export function scriptedIssuer(options: IssuerOptions = {}): ScriptedIssuer {
  const { server = serverUrl, issuer = "https://as.example", serve } = options;
  const metadataUrl = `${new URL(server).origin}/.well-known/oauth-protected-resource/mcp`;
  let count = 0;
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  /** The metadata of registered clients, with the present access token of the registration. */
  const registered = new Map<string, JsonObject>();
  const pushed = new Map<string, URLSearchParams>();
  const world: ScriptedIssuer = {
    fetch: (input, init) => answer(new Request(input, init)),
    metadata: metadataOf(issuer),
    resourceMetadata: { resource: server, authorization_servers: [issuer] },
    challenge: "",
    requiredScopes: [],
    lifetime: 3600,
    isStrict: false,
    registeredMethod: undefined,
    managesClients: false,
    redirectUris: "any",
    answerPush: undefined,
    answerToken: undefined,
    rewrite: undefined,
    asked: [],
    registrations: [],
    authorizations: [],
    pushedRequests: [],
    tokenRequests: [],
    tokenAuthorizations: [],
    live: new Map(),
    clients: new Set(),
    credentials: new Map(),
    revocationRequests: [],
    revoked: [],
    visits: [],
    person: ({ redirectUri = "http://127.0.0.1:7777/callback", back = (url: URL) => url }: Habits = {}) => ({
      prepare: () =>
        Promise.resolve({
          redirectUri,
          async visit(url) {
            // As for a person who reads the error on a page.
            if (!isKnown(url)) throw new Error("The page shows: Client ID not found");
            return back(authorize(url));
          },
          close: () => Promise.resolve(),
        }),
    }),
    migrate(issuer) {
      world.metadata = metadataOf(issuer);
      world.resourceMetadata = { ...world.resourceMetadata, authorization_servers: [issuer] };
      world.live.clear();
      world.clients.clear();
      refreshTokens.clear();
    },
  };

  /** Returns the parameters of an authorization request, which may have been pushed. */
  function parametersOf({ searchParams }: URL): URLSearchParams {
    return pushed.get(searchParams.get("request_uri") ?? "") ?? searchParams;
  }

  function authorize(url: URL): URL {
    const searchParams = parametersOf(url);
    pushed.delete(url.searchParams.get("request_uri") ?? "");
    world.visits.push(url);
    world.authorizations.push(searchParams);
    const redirectUri = searchParams.get("redirect_uri") ?? "";
    const back = new URL(redirectUri);
    const code = `code-${++count}`;
    const [clientId, scope, challenge] = ["client_id", "scope", "code_challenge"].map((name) => searchParams.get(name));
    codes.set(code, { clientId: clientId ?? "", scope: scope ?? "", redirectUri, challenge: challenge ?? "" });
    back.searchParams.set("code", code);
    back.searchParams.set("state", searchParams.get("state") ?? "");
    if (world.metadata.authorization_response_iss_parameter_supported === true) {
      back.searchParams.set("iss", String(world.metadata.issuer));
    }
    return back;
  }

  async function answer(request: Request): Promise<Response> {
    const { url, method } = request;
    if (url === server) return answerMcp(request);
    if (method === "GET" && url.startsWith(`${String(world.metadata.authorization_endpoint)}?`))
      return visit(new URL(url));
    world.asked.push(`${method} ${url}`);
    if (url === metadataUrl && world.resourceMetadata) return Response.json(world.resourceMetadata);
    const parameters = new URLSearchParams(await request.clone().text());
    const response = await answerAs(request);
    return world.rewrite ? world.rewrite(response, { path: new URL(url).pathname, parameters }) : response;
  }

  async function answerAs(request: Request): Promise<Response> {
    const { url } = request;
    const { origin } = new URL(String(world.metadata.issuer));
    if (url === `${origin}/.well-known/oauth-authorization-server`) return Response.json(world.metadata);
    if (url === world.metadata.registration_endpoint) return register((await request.json()) as JsonObject);
    if (url.startsWith(`${String(world.metadata.registration_endpoint)}/`)) return manage(request);
    if (url === world.metadata.pushed_authorization_request_endpoint) return push(request);
    if (url === world.metadata.token_endpoint) return token(request);
    if (url === world.metadata.revocation_endpoint) return revoke(request);
    return new Response(null, { status: 404 });
  }

  /** Redirects a browser. A client that is not known gets a page. */
  function visit(url: URL): Response {
    if (isKnown(url)) return Response.redirect(authorize(url).href, 302);
    return Response.json({ error: "invalid_request", error_description: "Client ID not found" }, { status: 400 });
  }

  function isKnown(url: URL): boolean {
    const searchParams = parametersOf(url);
    if (!hasRedirectUri(searchParams)) return false;
    if (!world.isStrict) return true;
    const credential = world.credentials.get(searchParams.get("client_id") ?? "");
    const redirectUri = searchParams.get("redirect_uri");
    return credential !== undefined && (credential.redirectUri ?? redirectUri) === redirectUri;
  }

  function hasRedirectUri(parameters: URLSearchParams): boolean {
    if (world.redirectUris === "any") return true;
    const { redirect_uris: uris = [] } = registered.get(parameters.get("client_id") ?? "") ?? {};
    const redirectUri = parameters.get("redirect_uri") ?? "";
    const accepted = [redirectUri, ...(world.redirectUris === "any port" ? [redirectUri.replace(/:\d+/, "")] : [])];
    return (uris as string[]).some((uri) => accepted.includes(uri));
  }

  async function push(request: Request): Promise<Response> {
    world.pushedRequests.push(request.clone());
    const parameters = new URLSearchParams(await request.text());
    const answer = world.answerPush?.(parameters);
    if (answer) return answer;
    if (!world.clients.has(parameters.get("client_id") ?? "")) return refusal("invalid_client", 401);
    if (!hasRedirectUri(parameters)) return refusal("invalid_request", 400, "redirect_uri");
    const uri = `urn:ietf:params:oauth:request_uri:${++count}`;
    pushed.set(uri, parameters);
    return Response.json({ request_uri: uri, expires_in: 60 }, { status: 201 });
  }

  /** Reads or deletes a registration. */
  function manage({ url, method, headers }: Request): Response {
    const id = url.slice(url.lastIndexOf("/") + 1);
    const client = registered.get(id);
    const token = headers.get("authorization");
    if (!client || !world.clients.has(id) || token !== `Bearer ${String(client.registration_access_token)}`) {
      return refusal("invalid_token", 401);
    }
    if (method === "DELETE") world.clients.delete(id);
    if (method === "DELETE") return new Response(null, { status: 204 });
    client.registration_access_token = `registration-${++count}`;
    return Response.json(client);
  }

  function answerMcp(request: Request): Response | Promise<Response> {
    const { headers } = request;
    const scope = world.live.get(headers.get("authorization")?.replace("Bearer ", "") ?? "");
    const named = `Bearer resource_metadata="${metadataUrl}"`;
    const challenge = world.challenge === "" ? named : `${named}, ${world.challenge}`;
    if (scope === undefined) return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
    const has = scope.split(" ");
    if (world.requiredScopes.every((needed) => has.includes(needed)))
      return serve?.(request) ?? new Response(null, { status: 202 });
    const needed = `${named}, error="insufficient_scope", scope="${world.requiredScopes.join(" ")}"`;
    return new Response(null, { status: 403, headers: { "www-authenticate": needed } });
  }

  function register(metadata: JsonObject): Response {
    world.registrations.push(metadata);
    const id = `client-${++count}`;
    world.clients.add(id);
    const management = world.managesClients && {
      registration_client_uri: `${String(world.metadata.registration_endpoint)}/${id}`,
      registration_access_token: `registration-${++count}`,
    };
    registered.set(id, { ...metadata, ...management, client_id: id });
    if (!world.isStrict) return Response.json(registered.get(id), { status: 201 });
    const method = world.registeredMethod ?? String(metadata.token_endpoint_auth_method);
    const secret = method === "none" ? {} : { client_secret: `secret-${id}`, client_secret_expires_at: 0 };
    world.credentials.set(id, { method, ...(method !== "none" && { secret: `secret-${id}` }) });
    registered.set(id, { ...registered.get(id), token_endpoint_auth_method: method });
    return Response.json({ ...registered.get(id), ...secret }, { status: 201 });
  }

  async function token(request: Request): Promise<Response> {
    const parameters = new URLSearchParams(await request.text());
    world.tokenRequests.push(parameters);
    world.tokenAuthorizations.push(request.headers.get("authorization") ?? undefined);
    const given = await world.answerToken?.(parameters);
    if (given) return given;
    const [, basic = ""] = (request.headers.get("authorization") ?? "").split(" ");
    const clientId = parameters.get("client_id") ?? atob(basic).split(":")[0] ?? "";
    if (world.isStrict) {
      const reason = reasonToRefuse(request, parameters);
      if (reason !== undefined) return refusal("invalid_client", 401, reason);
    }
    if (!world.clients.has(clientId)) return refusal("invalid_client", 401);
    const isCode = parameters.get("grant_type") === "authorization_code";
    const key = parameters.get(isCode ? "code" : "refresh_token") ?? "";
    const from = isCode ? codes : refreshTokens;
    const grant = from.get(key);
    from.delete(key);
    if (!grant || grant.clientId !== clientId) return refusal("invalid_grant");
    if (isCode && !(await isProven(grant, parameters))) return refusal("invalid_grant");
    const refreshToken = `refresh-${++count}`;
    const accessToken = `access-${count}`;
    refreshTokens.set(refreshToken, grant);
    world.live.set(accessToken, grant.scope);
    return Response.json({
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: world.lifetime,
      refresh_token: refreshToken,
      scope: grant.scope,
    });
  }

  /** Returns why a client is not authenticated, in the words and the order of the Python SDK. */
  function reasonToRefuse({ headers }: Request, parameters: URLSearchParams): string | undefined {
    const clientId = parameters.get("client_id");
    if (!clientId) return "Missing client_id";
    const credential = world.credentials.get(clientId);
    if (!credential) return "Invalid client_id";
    const { method, secret } = credential;
    if (method === "none") return undefined;
    const basic = /^Basic (.+)$/.exec(headers.get("authorization") ?? "")?.[1];
    if (method === "client_secret_post") {
      return parameters.get("client_secret") === secret ? undefined : "Client secret is required";
    }
    if (basic === undefined) return "Missing or invalid Basic authentication in Authorization header";
    return atob(basic) === `${clientId}:${secret}` ? undefined : "Invalid client_secret";
  }

  async function revoke(request: Request): Promise<Response> {
    const parameters = new URLSearchParams(await request.text());
    world.revocationRequests.push(parameters);
    if (world.isStrict) {
      const reason = reasonToRefuse(request, parameters);
      if (reason !== undefined) return refusal("unauthorized_client", 401, reason);
      if (!parameters.has("client_secret")) return refusal("invalid_request", 400, "client_secret: Field required");
    }
    const revoked = parameters.get("token") ?? "";
    world.revoked.push(revoked);
    world.live.delete(revoked);
    refreshTokens.delete(revoked);
    return new Response(null, { status: 200 });
  }

  return world;
}

function metadataOf(issuer: string): JsonObject {
  const { origin } = new URL(issuer);
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
  };
}

async function isProven({ redirectUri, challenge }: Grant, parameters: URLSearchParams): Promise<boolean> {
  const verifier = new TextEncoder().encode(parameters.get("code_verifier") ?? "");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", verifier));
  const encoded = btoa(String.fromCharCode(...digest))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  return encoded === challenge && parameters.get("redirect_uri") === redirectUri;
}

function refusal(error: string, status = 400, reason?: string): Response {
  return Response.json({ error, ...(reason !== undefined && { error_description: reason }) }, { status });
}
