import type { JsonObject, RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import { type EventFeed, type SentRequest, fetchStub } from "./fetch-stub.ts";
import { Inbox, type RawMessage, isRequest } from "./raw-message.ts";
import { type Answers, type ScriptedServer, type ScriptedWire, receiver, scriptedOver } from "./scripted-server.ts";

export interface ScriptedHttpOptions {
  /** The URL of the server. Default: a unique URL. */
  url?: string;
  /** Whether answers are always streams. */
  sse: boolean;
  /** The session that the answer to `initialize` names. Null for none. */
  sessionId?: string | null;
  /** Whether a GET opens a stream. It is answered with 405 otherwise. Default: true. */
  standalone?: boolean;
  /** Answers a request. Returns true if it did, so that the request is not processed further. */
  intercept?: (request: SentRequest) => boolean;
}

export interface PlayedHttp {
  url: string;
  fetch: typeof fetch;
  server: ScriptedServer;
}

let servers = 0;

/** A scripted server at a URL, which the client reaches with the returned `fetch`. */
export function httpScripted(answers: Answers, options: ScriptedHttpOptions): PlayedHttp {
  const stub = fetchStub();
  const inbox = new Inbox();
  const sent: SentRequest[] = [];
  const pending = new Map<RequestId, { request: SentRequest; feed?: EventFeed; isInitialize: boolean }>();
  let standalone: EventFeed | undefined;
  /** The messages that wait for the client's GET stream. */
  const early: unknown[] = [];

  function answered(id: RequestId, response: JsonObject): void {
    const waiting = pending.get(id);
    if (!waiting) throw new Error(`The client has no request ${JSON.stringify(id)} that waits for an answer.`);
    pending.delete(id);
    const { sessionId = "scripted-session" } = options;
    const headers = { "content-type": "application/json", ...(sessionId && { "mcp-session-id": sessionId }) };
    if (waiting.isInitialize && sessionId) return waiting.request.json(response, { headers });
    const feed = waiting.feed ?? (options.sse ? waiting.request.stream() : undefined);
    if (!feed) return waiting.request.json(response);
    feed.event(response);
    feed.end();
  }

  const { held, take } = receiver(inbox, answers, (id, result) => answered(id, { jsonrpc: "2.0", id, result }));

  function send(value: unknown, during: { id: RequestId } | undefined): void {
    const feed = feedFor(during);
    if (feed) feed.event(value);
    else if (options.standalone === false) throw new Error("The client has no open stream, and opens none.");
    else early.push(value);
  }

  function feedFor(during: { id: RequestId } | undefined): EventFeed | undefined {
    if (!during && standalone) return standalone;
    const waiting = during ? pending.get(during.id) : [...pending.values()].at(-1);
    if (!waiting) return undefined;
    waiting.feed ??= waiting.request.stream();
    return waiting.feed;
  }

  function receive(request: SentRequest): void {
    sent.push(request);
    if (options.intercept?.(request)) return;
    if (request.method === "GET") {
      if (options.standalone === false) request.status(405, { allow: "POST" });
      else {
        standalone = request.stream();
        for (const value of early.splice(0)) standalone.event(value);
      }
      return;
    }
    if (request.method === "DELETE") return request.status(204);
    const messages = (Array.isArray(request.body) ? request.body : [request.body]) as RawMessage[];
    const asks = messages.filter(isRequest);
    for (const { id, method } of asks) pending.set(id, { request, isInitialize: method === "initialize" });
    if (asks.length === 0) request.status(202);
    for (const message of messages) take(message);
  }

  async function pump(): Promise<never> {
    for (;;) receive(await stub.next());
  }
  void pump();

  const wire: ScriptedWire = {
    answered,
    send,
    sendText: (text) => feedFor(undefined)?.raw(text),
    httpOf({ id }) {
      const found = sent.findLast(({ body }) => body.id === id);
      if (!found) throw new Error(`The client has sent no message with the id ${JSON.stringify(id)}.`);
      return found;
    },
    sent,
    isClosed: false,
    close: () => standalone?.end(),
  };
  const { url = `http://scripted-${++servers}.test/mcp` } = options;
  return { url, fetch: stub.fetch, server: scriptedOver(wire, inbox, held) };
}
