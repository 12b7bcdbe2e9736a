import {
  type HttpOptions,
  type JsonObject,
  MetaKey,
  type RequestId,
  type Revision,
  type Server,
  toFetch,
} from "../library.ts";
import { eventsOf } from "./events.ts";
import type { Inbox, Message } from "./inbox.ts";
import type { Carried, RequestInit as Init, Wire } from "./peer.ts";

const url = "http://localhost/mcp";

export interface HttpWireOptions {
  revision: Revision;
  accept: string;
  http: HttpOptions;
}

/** A wire to a server at an HTTP endpoint, in one process: sessions, headers and streams as the revision has them. */
export function httpWire(server: Server, inbox: Inbox, { revision, accept, http }: HttpWireOptions): Wire {
  const { fetch, close } = toFetch(server, http);
  const posts = new Map<RequestId, AbortController>();
  const carried = new Map<RequestId | undefined, Carried>();
  const leaving = new AbortController();
  const session: Record<string, string> =
    revision.kind === "modern" ? { "mcp-protocol-version": revision.version } : {};

  async function read(response: Response, id: RequestId | undefined): Promise<void> {
    const type = response.headers.get("content-type") ?? "";
    carried.set(id, { status: response.status, headers: response.headers, type });
    const sessionId = response.headers.get("mcp-session-id");
    if (sessionId !== null) session["mcp-session-id"] = sessionId;
    if (!response.body) return;
    if (type !== "text/event-stream") {
      const text = await response.text();
      if (text !== "") inbox.put(JSON.parse(text));
      return;
    }
    for await (const { data } of eventsOf(response.body)) if (data) inbox.put(JSON.parse(data));
  }

  async function post(body: string, value: unknown, init: Init): Promise<void> {
    const id = isRequest(value) ? value.id : undefined;
    const controller = new AbortController();
    if (isRequest(value)) posts.set(value.id, controller);
    const own = { ...session, ...mirrored(value), ...init.headers };
    if (isRequest(value) && value.method === "initialize") delete own["mcp-protocol-version"];
    const headers = { "content-type": "application/json", accept, ...own };
    try {
      await read(await fetch(new Request(url, { method: "POST", headers, body, signal: controller.signal })), id);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }

  async function listen(): Promise<void> {
    const headers = { accept: "text/event-stream", ...session };
    const response = await fetch(new Request(url, { headers, signal: leaving.signal }));
    if (!response.body || !response.ok) return;
    for await (const { data } of eventsOf(response.body)) if (data) inbox.put(JSON.parse(data));
  }

  return {
    send: (value, init = {}) => void post(JSON.stringify(value), value, init),
    sendText: (text) => void post(text, undefined, {}),
    cancel(requestId, reason) {
      if (revision.dropCancels) posts.get(requestId)?.abort();
      else {
        const params = { requestId, ...(reason !== undefined && { reason }) };
        const message = { jsonrpc: "2.0", method: "notifications/cancelled", params };
        void post(JSON.stringify(message), message, {});
      }
    },
    opened(version) {
      if (revision.versionHeader) session["mcp-protocol-version"] = version;
      void listen();
    },
    carried: (id) => carried.get(id),
    async close() {
      leaving.abort();
      for (const controller of posts.values()) controller.abort();
      await close();
    },
  };
}

function isRequest(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "method" in value && "id" in value;
}

/** The headers that mirror members of a modern message. */
function mirrored(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null || !("method" in value)) return {};
  const { method, params } = value as { method: unknown; params?: JsonObject };
  const version = (params?._meta as JsonObject | undefined)?.[MetaKey.protocolVersion];
  if (typeof method !== "string" || typeof version !== "string") return {};
  const name = method === "resources/read" ? params?.uri : params?.name;
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": encode(name) }),
  };
}

function encode(name: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name)) return name;
  return `=?base64?${Buffer.from(name, "utf8").toString("base64")}?=`;
}
