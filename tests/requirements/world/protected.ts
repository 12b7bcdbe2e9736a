import { type TokenIssuer, makeTokenIssuer } from "../../auth/token-issuer.ts";
import {
  type AnyServerDefinition,
  type JsonObject,
  type ProtectedResourceOptions,
  type RawAnswer,
  type RawHttp,
  jwtVerifier,
  protectedResource,
} from "../library.ts";
import { accept, initializeRequest } from "./http-session.ts";
import type { World } from "./world.ts";

export const resource = "https://localhost/mcp";
export const issuer = "https://as.example";
export const metadataUrl = "https://localhost/.well-known/oauth-protected-resource/mcp";

/** A protected server of a world, and the issuer of its tokens. */
export interface Protected {
  readonly http: RawHttp;
  readonly tokens: TokenIssuer;
  /** Calls a tool in the revision of the world, with or without a token. */
  readonly call: (
    name: string,
    token: string | undefined,
    more?: { query?: string; session?: string },
  ) => Promise<RawAnswer>;
  /** Opens a legacy session with a token and returns its id. Returns undefined in a world of a modern revision. */
  open(token: string): Promise<string | undefined>;
}

/** The issuer's tokens are good for `resource`, and their time is that of the process. */
export async function serveProtected(
  world: World,
  definition: Partial<AnyServerDefinition>,
  options: Partial<ProtectedResourceOptions> = {},
): Promise<Protected> {
  const now = (): number => Math.floor(Date.now() / 1000);
  const tokens = await makeTokenIssuer({ issuer, audience: resource, now });
  const verifier = jwtVerifier({ issuer, audience: resource, jwks: { keys: [tokens.publicKey()] } });
  const auth = protectedResource({ resource, issuers: [issuer], verifier, ...options });
  const http = world.serveHttp(definition, { auth, path: "/mcp" });
  const headersOf = (token: string | undefined): Record<string, string> =>
    token === undefined ? { accept } : { accept, authorization: `Bearer ${token}` };

  async function open(token: string): Promise<string | undefined> {
    if (world.isModern) return undefined;
    const opened = await http.post(initializeRequest(world.version), headersOf(token));
    return opened.headers.get("mcp-session-id") ?? undefined;
  }

  return {
    http,
    tokens,
    open,
    async call(name, token, { query = "", session } = {}) {
      const params: JsonObject = { name, arguments: {} };
      const path = `/mcp${query}`;
      if (world.isModern) {
        const modern = { "mcp-protocol-version": world.version, "mcp-method": "tools/call", "mcp-name": name };
        const headers = { ...headersOf(token), ...modern, "content-type": "application/json" };
        return http.send({ path, headers, body: modernRequest(world.version, params) });
      }
      const id = session ?? (token === undefined ? undefined : await open(token));
      const headers = {
        ...headersOf(token),
        "content-type": "application/json",
        ...(id !== undefined && { "mcp-session-id": id }),
      };
      return http.send({ path, headers, body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
    },
  };
}

function modernRequest(version: string, params: JsonObject): JsonObject {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta } };
}

/** The first message of an answer, whether it is a stream or not. */
export async function firstMessage(answer: RawAnswer): Promise<JsonObject> {
  if (answer.type === "application/json") return { ...(await answer.json()) };
  for (;;) {
    const block = await answer.block();
    if (block === undefined) throw new Error("The stream has ended.");
    const data = /^data: ?(\S.*)$/m.exec(block)?.[1];
    if (data !== undefined) return JSON.parse(data) as JsonObject;
  }
}
