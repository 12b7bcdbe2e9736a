/** A `fetch` that serves documents by URL and records the requested URLs. */
export interface DocumentServer {
  fetch: (url: string) => Promise<Response>;
  /** The URLs in the order in which they were asked for. */
  readonly asked: string[];
}

/** Serves each value as JSON, a `Response` unchanged, and 404 for other URLs. */
export function documentServer(documents: Record<string, unknown>): DocumentServer {
  const asked: string[] = [];
  return {
    asked,
    fetch(url) {
      asked.push(url);
      const document = documents[url];
      if (document instanceof Response) return Promise.resolve(document.clone());
      return Promise.resolve(document === undefined ? new Response(null, { status: 404 }) : Response.json(document));
    },
  };
}

/** A request to a token endpoint. */
export interface AskedToken {
  readonly url: string;
  readonly headers: Headers;
  readonly parameters: Record<string, string>;
}

/** Answers a request to a token endpoint: with the JSON of a token, or a response. */
export type AnswerToken = (asked: AskedToken) => object | Promise<object>;

/** A `fetch` that serves documents by URL, and token endpoints. */
export interface TokenServer {
  readonly fetch: typeof fetch;
  /** The URLs of the documents in the order in which they were asked for. */
  readonly documents: readonly string[];
  /** The requests to the token endpoints, in order. */
  readonly tokens: readonly AskedToken[];
}

/** Serves each document as JSON, and has each POST answered; everything else there is not. */
export function tokenServer(documents: Record<string, unknown>, answer: AnswerToken): TokenServer {
  const served = documentServer(documents);
  const tokens: AskedToken[] = [];
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    if (init.method !== "POST") return served.fetch(url.href);
    const parameters = Object.fromEntries(new URLSearchParams(init.body as string));
    const asked = { url: url.href, headers: new Headers(init.headers), parameters };
    tokens.push(asked);
    const answered = await answer(asked);
    return answered instanceof Response ? answered : Response.json(answered);
  };
  return { fetch: send as typeof fetch, documents: served.asked, tokens };
}

/** The metadata of an MCP server at `https://mcp.example/mcp` and of its authorization server, `https://as.example`. */
export function authorizationDocuments(resource: object = {}, server: object = {}): Record<string, unknown> {
  const issuer = "https://as.example";
  return {
    "https://mcp.example/.well-known/oauth-protected-resource/mcp": {
      resource: "https://mcp.example/mcp",
      authorization_servers: [issuer],
      ...resource,
    },
    "https://as.example/.well-known/oauth-authorization-server": {
      issuer,
      token_endpoint: `${issuer}/token`,
      ...server,
    },
  };
}
