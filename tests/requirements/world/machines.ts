import {
  type AnswerToken,
  type Client,
  type HttpAuth,
  type MachineOptions,
  type TokenServer,
  authorizationDocuments,
  connect,
  serverUrl,
  tokenServer,
  tool,
} from "../library.ts";
import type { World } from "./world.ts";

export const idp = "https://idp.example";
export const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** A server of the world's revision that accepts one token, and the authorization servers that issue it. */
export interface Machines extends TokenServer {
  /** The extensions that each message to the server declared. */
  readonly declared: unknown[];
  /** Connects a client by a way of authorization, or without any. */
  connect(this: void, auth: ((options: MachineOptions) => HttpAuth) | undefined): Promise<Client>;
}

const token = "the-token";
const tools = { greet: tool({ call: () => "Hello" }) };

/** Returns a grant for each identity, and the token for other requests. */
const giving: AnswerToken = ({ url }) =>
  url.startsWith(idp)
    ? { access_token: "the-grant", issued_token_type: ID_JAG, token_type: "N_A", expires_in: 300 }
    : { access_token: token, token_type: "Bearer", expires_in: 3600 };

/** `metadata` contains additional metadata of the authorization server. */
export function machines(world: World, answer: AnswerToken = giving, metadata: object = {}): Machines {
  const served = tokenServer(authorizationDocuments({}, metadata), answer);
  const declared: unknown[] = [];
  const serve = world.serveFetch({ tools }, { path: "/mcp", allowedHosts: ["mcp.example"] });
  const fetchServer: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { params } = JSON.parse(await request.clone().text()) as { params: { _meta: Record<string, any> } };
    declared.push(params._meta["io.modelcontextprotocol/clientCapabilities"].extensions);
    if (request.headers.get("authorization") === `Bearer ${token}`) return serve(request);
    return new Response(null, { status: 401, headers: { "www-authenticate": 'Bearer scope="greet"' } });
  };
  return {
    ...served,
    declared,
    connect(make) {
      const { version: revision, clock } = world;
      const auth = make?.({ issuer: "https://as.example", fetch: served.fetch, clock });
      return connect(serverUrl, { revision, clock, fetch: fetchServer, ...(auth && { auth }) });
    },
  };
}
