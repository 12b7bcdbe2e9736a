import {
  type JsonObject,
  type JsonRpcRequest,
  isObject,
  isRequest,
} from "../../../packages/mcparley/src/rpc/messages.ts";
import type { Feed } from "./feed.ts";
import type { Endpoint, Exchange, OpenFeed } from "./http-world.ts";
import { type ScriptedServer, unsupportedVersion } from "./scripted-server.ts";

/** The events of one stream of a session, so that a client can resume it. */
interface StreamLog {
  events: string[];
  feed: Feed | undefined;
  isOver: boolean;
}

/** The endpoint of Streamable HTTP: stateless since 2026-07-28, with sessions before. */
export class StreamableEndpoint implements Endpoint {
  readonly #server: ScriptedServer;
  readonly #openFeed: OpenFeed;
  readonly #sessions = new Set<string>();
  readonly #logs: StreamLog[] = [];
  /** The streams that belong to no request. */
  readonly #standalone = new Set<Feed>();
  #opened = 0;

  constructor(server: ScriptedServer, openFeed: OpenFeed) {
    this.#server = server;
    this.#openFeed = openFeed;
  }

  nameOf({ method, headers }: Exchange): string {
    return method === "GET" && headers.has("last-event-id") ? "GET (resume)" : method;
  }

  forgetSessions(): void {
    this.#sessions.clear();
    for (const feed of this.#standalone) feed.end();
    for (const { feed } of this.#logs) feed?.end();
  }

  serve(exchange: Exchange): Response {
    if (exchange.method === "POST") return this.#post(exchange);
    const session = exchange.headers.get("mcp-session-id");
    if (this.#server.isModern && session === null) return new Response(null, { status: 405 });
    const refused = this.#refuseSession(exchange);
    if (refused) return refused;
    if (exchange.method === "GET") return this.#get(exchange);
    this.#sessions.delete(session ?? "");
    return new Response(null, { status: 200 });
  }

  #post(exchange: Exchange): Response {
    const { message } = exchange;
    if (!message) return new Response(null, { status: 400 });
    const opens = isRequest(message) && message.method === "initialize";
    const needsSession = !opens && (!this.#server.isModern || (this.#server.isDual && !isModernMessage(message)));
    const refused = (needsSession ? this.#refuseSession(exchange) : undefined) ?? this.#refuseRevision(exchange);
    if (refused) return refused;
    if (isRequest(message)) return this.#answer(message, exchange);
    this.#server.receive(message, () => {});
    return new Response(null, { status: 202 });
  }

  /** Refuses a message of a revision that the server does not speak, as servers of the official SDK do. */
  #refuseRevision({ message, headers }: Exchange): Response | undefined {
    const { revision, isModern, isDual, definitions } = this.#server;
    const version = headers.get("mcp-protocol-version");
    if (!message || !isRequest(message)) return undefined;
    if (isModern && !isDual && !isModernMessage(message)) {
      return Response.json(unsupportedVersion(message.id, revision), { status: 400 });
    }
    const isCall = message.method === "tools/call" && isModernMessage(message);
    if (isCall && definitions === 2 && !headers.has("mcp-param-text")) {
      const error = { code: -32020, message: "Header mismatch: Mcp-Param-Text is missing" };
      return Response.json({ jsonrpc: "2.0", id: message.id, error }, { status: 400 });
    }
    if (isModern || version === null || version === revision || message.method === "initialize") return undefined;
    return badRequest(`Bad Request: Unsupported protocol version (supported versions: ${revision})`);
  }

  #refuseSession({ headers }: Exchange): Response | undefined {
    const session = headers.get("mcp-session-id");
    if (session === null) return badRequest("Bad Request: Mcp-Session-Id header is required");
    if (this.#sessions.has(session)) return undefined;
    const error = { code: -32001, message: "Session not found" };
    return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
  }

  #answer(request: JsonRpcRequest, exchange: Exchange): Response {
    const headers: Record<string, string> = {};
    if (request.method === "initialize") {
      const session = `session-${++this.#opened}`;
      this.#sessions.add(session);
      headers["mcp-session-id"] = session;
    }
    const isStream = this.#server.streams(request) || exchange.shape === "ended";
    const feed = this.#openFeed(`the answer to ${request.method}`, exchange);
    if (isStream) return this.#stream(request, feed, { exchange, headers });
    let status = 200;
    this.#server.receive(request, (answer) => {
      status = statusOf(answer, isModernMessage(request));
      feed.document(JSON.stringify(answer));
    });
    return new Response(feed.body, { status, headers: { ...headers, "content-type": "application/json" } });
  }

  #stream(
    request: JsonRpcRequest,
    feed: Feed,
    { exchange, headers }: { exchange: Exchange; headers: Record<string, string> },
  ): Response {
    const log: StreamLog = { events: [], feed, isOver: false };
    const number = this.#logs.push(log) - 1;
    const isResumable = !this.#server.isModern;
    // If the response to a request is not a stream, it has no event before its end.
    const isCut = exchange.shape === "ended" && !this.#server.streams(request);
    this.#server.receive(request, (message) => {
      const id = isResumable ? `id: ${number}-${log.events.length}\n` : "";
      const event = `${id}data: ${JSON.stringify(message)}\n\n`;
      log.events.push(event);
      log.isOver ||= "id" in message && !("method" in message);
      if (isCut) return;
      log.feed?.event(event);
      if (log.isOver) log.feed?.end();
    });
    if (isCut) feed.end();
    return new Response(feed.body, { headers: { ...headers, "content-type": "text/event-stream" } });
  }

  #get(exchange: Exchange): Response {
    const headers = { "content-type": "text/event-stream" };
    const feed = this.#openFeed("the standalone stream", exchange);
    const last = exchange.headers.get("last-event-id");
    if (last !== null) {
      const [number = 0, index = 0] = last.split("-").map(Number);
      const log = this.#logs[number];
      for (const event of log?.events.slice(index + 1) ?? []) feed.event(event);
      if (log && !log.isOver) log.feed = feed;
      else feed.end();
      return new Response(feed.body, { headers });
    }
    this.#standalone.add(feed);
    this.#server.standalone = (message) => feed.event(`data: ${JSON.stringify(message)}\n\n`);
    if (exchange.shape === "reset") feed.reset();
    if (exchange.shape === "ended" || exchange.shape === "lost") feed.end();
    return new Response(feed.body, { headers });
  }
}

function isModernMessage(message: object): boolean {
  const { params } = message as { params?: JsonObject };
  return isObject(params?._meta) && "io.modelcontextprotocol/protocolVersion" in params._meta;
}

function statusOf({ error }: JsonObject, isModern: boolean): number {
  if (!isModern || !isObject(error)) return 200;
  return error.code === -32601 ? 404 : 400;
}

function badRequest(message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status: 400 });
}
