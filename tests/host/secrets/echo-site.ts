import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { echoServer } from "./echo.mjs";

/** The secrets that the authorization server of a site issues. */
export interface IssuedSecrets {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly clientSecret: string;
}

/** A site on loopback whose server sends the headers, the query and the path of each request in each text. */
export interface EchoSite {
  readonly origin: string;
  close(this: void): Promise<void>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
}

/** Starts a site. If it issues secrets, `/mcp` requires the access token, and echoes also the other secrets. */
export async function echoSite(issued?: IssuedSecrets): Promise<EchoSite> {
  const waiting = new Map<unknown, (message: object) => void>();
  let asked = 0;
  let origin = "";

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    const url = new URL(request.url ?? "/", origin);
    if (issued && !url.pathname.startsWith("/mcp")) return answerAuthorization(url.pathname, response);
    if (issued && request.headers.authorization !== `Bearer ${issued.accessToken}`) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.method === undefined || message.id === undefined) {
      waiting.get(message.id)?.(message);
      return void response.writeHead(202).end();
    }
    const send = (sent: object): void =>
      void response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...sent })}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const secrets = [...secretsIn(request, url), ...Object.values(issued ?? {})] as string[];
    const ask = (method: string, params: object): Promise<unknown> => {
      const id = `asked-${++asked}`;
      send({ id, method, params });
      return new Promise((resolve) => waiting.set(id, resolve));
    };
    await echoServer(() => secrets, { send, ask })(message);
    response.end();
  }

  function answerAuthorization(pathname: string, response: ServerResponse): void {
    const json = (value: object, status = 200): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    }
    if (pathname.startsWith("/.well-known/")) return json(metadataOf(origin));
    if (pathname === "/register") {
      const redirects = { redirect_uris: ["http://127.0.0.1:1/callback"] };
      const secret = { client_secret: issued?.clientSecret, token_endpoint_auth_method: "client_secret_post" };
      return json({ client_id: "host", ...redirects, ...secret, client_secret_expires_at: 0 }, 201);
    }
    const tokens = { access_token: issued?.accessToken, refresh_token: issued?.refreshToken };
    json({ ...tokens, token_type: "Bearer", expires_in: 3600 });
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Returns the canaries that a request contains. */
function secretsIn({ headers }: IncomingMessage, url: URL): string[] {
  const values = [...Object.values(headers), ...url.searchParams.values(), ...url.pathname.split("/")];
  return values.flatMap((value) => (typeof value === "string" && value.includes("canary") ? [value] : []));
}

function metadataOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    authorization_response_iss_parameter_supported: true,
  };
}
