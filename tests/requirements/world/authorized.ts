import {
  type Client,
  type OAuthOptions,
  type ScriptedIssuer,
  connect,
  oauth,
  scriptedIssuer,
  serverUrl,
  tool,
} from "../library.ts";
import type { World } from "./world.ts";

/** A server of the world's revision that requires tokens, and its authorization server. */
export interface Authorized {
  readonly issuer: ScriptedIssuer;
  /** The requests that came to the server, in order. */
  readonly requests: Request[];
  /** Connects a client, which has a person sign in. */
  connect(this: void, options?: OAuthOptions, habits?: Parameters<ScriptedIssuer["person"]>[0]): Promise<Client>;
}

const tools = { greet: tool({ call: () => "Hello" }) };

export function authorized(world: World): Authorized {
  const issuer = scriptedIssuer();
  const requests: Request[] = [];
  const serve = world.serveFetch({ tools }, { path: "/mcp", allowedHosts: ["mcp.example"] });
  const ask: typeof fetch = (input, init) => issuer.fetch(input, init);
  const fetchServer: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(request.clone());
    const judged = await issuer.fetch(request.url, { headers: request.headers });
    return judged.ok ? serve(request) : judged;
  };
  return {
    issuer,
    requests,
    connect(options = {}, habits = {}) {
      const { version: revision, clock } = world;
      const auth = oauth({ signIn: issuer.person(habits), fetch: ask, clock, ...options });
      return connect(serverUrl, { revision, clock, fetch: fetchServer, auth });
    },
  };
}

/** The paths of the GET requests, in order. */
export function documentsAsked({ asked }: ScriptedIssuer): string[] {
  return asked.filter((line) => line.startsWith("GET ")).map((line) => line.slice(4));
}
