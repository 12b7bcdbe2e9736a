import type { AnyServerDefinition, HttpOptions, RawAnswer, RawHttp } from "../library.ts";
import type { World } from "./world.ts";

export const accept = "application/json, text/event-stream";

export function initializeRequest(version: string, capabilities: object = {}): object {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: "raw", version: "1" } };
  return { jsonrpc: "2.0", id: "init", method: "initialize", params };
}

/** A legacy session whose HTTP requests are made by hand. */
export interface HttpSession {
  http: RawHttp;
  id: string;
  /** The headers of each request of the session. */
  headers: Record<string, string>;
  initialized: RawAnswer;
  request(method: string, params?: object, id?: string | number): Promise<RawAnswer>;
  notify(method: string, params?: object): Promise<RawAnswer>;
  get(headers?: Record<string, string>): Promise<RawAnswer>;
}

/** Serves a definition over HTTP and opens a session in the revision of the world. */
export async function httpSession(
  world: World,
  definition: Partial<AnyServerDefinition> = {},
  { capabilities, ...options }: HttpOptions & { capabilities?: object } = {},
): Promise<HttpSession> {
  const http = world.serveHttp(definition, options);
  return openSession(world, http, capabilities);
}

/** Opens another session at the same endpoint. */
export async function openSession(world: World, http: RawHttp, capabilities?: object): Promise<HttpSession> {
  const initialized = await http.post(initializeRequest(world.version, capabilities), { accept });
  const id = initialized.headers.get("mcp-session-id") ?? "";
  const headers: Record<string, string> = { accept, "mcp-session-id": id };
  if (world.revision.versionHeader) headers["mcp-protocol-version"] = world.version;
  const session: HttpSession = {
    http,
    id,
    headers,
    initialized,
    request: (method, params = {}, requestId = "r") =>
      http.post({ jsonrpc: "2.0", id: requestId, method, params }, headers),
    notify: (method, params = {}) => http.post({ jsonrpc: "2.0", method, params }, headers),
    get: (more = {}) => http.send({ method: "GET", headers: { ...headers, accept: "text/event-stream", ...more } }),
  };
  await session.notify("notifications/initialized");
  return session;
}
