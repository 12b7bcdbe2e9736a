import type { JsonObject, RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import type { HttpOptions } from "../../packages/mcparley/src/http/server/options.ts";
import { toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
import type { Revision } from "../../packages/mcparley/src/mcp/revisions/revision.ts";
import { MetaKey } from "../../packages/mcparley/src/mcp/methods.ts";
import type { Server } from "../../packages/mcparley/src/server/create-server.ts";
import { type RawAnswer, mirroredHeaders, rawHttp } from "./raw-http.ts";
import { type Inbox, type RawMessage, isRequest } from "./raw-message.ts";
import { type Carried, type Wire, cancelled } from "./raw-wires.ts";

export interface HttpWireOptions {
  revision: Revision;
  accept: string;
  http: HttpOptions;
}

/** A wire to a server at an HTTP endpoint in this process, with the sessions, headers and streams of the revision. */
export function httpWire(server: Server, inbox: Inbox, { revision, accept, http }: HttpWireOptions): Wire {
  const { fetch, close } = toFetch(server, http);
  const client = rawHttp("http://localhost/mcp", fetch);
  const posts = new Map<RequestId, AbortController>();
  const carried = new Map<RequestId | undefined, Carried>();
  const leaving = new AbortController();
  const session: Record<string, string> =
    revision.kind === "modern" ? { "mcp-protocol-version": revision.version } : {};

  async function read(answer: RawAnswer, id: RequestId | undefined): Promise<void> {
    const { status, headers, type = "" } = answer;
    carried.set(id, { status, headers, type });
    const sessionId = headers.get("mcp-session-id");
    if (sessionId !== null) session["mcp-session-id"] = sessionId;
    if (type === "text/event-stream") return readEvents(answer);
    const text = await answer.text();
    if (text !== "") inbox.put(JSON.parse(text));
  }

  async function readEvents(answer: RawAnswer): Promise<void> {
    for await (const { data } of answer.events()) if (data) inbox.put(JSON.parse(data));
  }

  async function post(body: string, value: unknown, given: Record<string, string> = {}): Promise<void> {
    const request = asRequest(value);
    const controller = new AbortController();
    if (request) posts.set(request.id, controller);
    const own = { ...session, ...modernHeaders(value), ...given };
    if (request?.method === "initialize") delete own["mcp-protocol-version"];
    const headers = { "content-type": "application/json", accept, ...own };
    try {
      await read(await client.send({ headers, body, signal: controller.signal }), request?.id);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }

  async function listen(): Promise<void> {
    const headers = { accept: "text/event-stream", ...session };
    const answer = await client.send({ method: "GET", headers, signal: leaving.signal });
    if (answer.status === 200) await readEvents(answer);
  }

  return {
    send: (value, headers) => void post(JSON.stringify(value), value, headers),
    sendText: (text) => void post(text, undefined),
    cancel(requestId, reason) {
      if (revision.dropCancels) return posts.get(requestId)?.abort();
      const message = cancelled(requestId, reason);
      void post(JSON.stringify(message), message);
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

function asRequest(value: unknown): RawMessage | undefined {
  return typeof value === "object" && value !== null && isRequest(value as RawMessage)
    ? (value as RawMessage)
    : undefined;
}

/** The headers of a modern message: its revision, and those that mirror its members. */
function modernHeaders(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null || !("method" in value)) return {};
  const { method, params } = value as { method: unknown; params?: JsonObject };
  const version = (params?._meta as JsonObject | undefined)?.[MetaKey.protocolVersion];
  if (typeof method !== "string" || typeof version !== "string") return {};
  return { "mcp-protocol-version": version, ...mirroredHeaders(method, params) };
}
