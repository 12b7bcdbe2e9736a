import type { Feed } from "./feed.ts";
import type { Endpoint, Exchange, OpenFeed } from "./http-world.ts";
import type { ScriptedServer } from "./scripted-server.ts";

/** The endpoint of HTTP+SSE: a GET opens the stream of a session, and POSTs to another URL are acknowledged. */
export class HttpSseEndpoint implements Endpoint {
  readonly #server: ScriptedServer;
  readonly #openFeed: OpenFeed;
  readonly #sessions = new Map<string, Feed>();
  #opened = 0;

  constructor(server: ScriptedServer, openFeed: OpenFeed) {
    this.#server = server;
    this.#openFeed = openFeed;
  }

  nameOf({ method }: Exchange): string {
    return method === "GET" ? "GET (open)" : method;
  }

  forgetSessions(): void {
    this.#sessions.clear();
  }

  serve(exchange: Exchange): Response {
    const { method, url } = exchange;
    const session = url.searchParams.get("session");
    if (method === "GET") return this.#connect(exchange);
    if (method !== "POST" || session === null) return new Response(null, { status: 405 });
    return this.#post(exchange, session);
  }

  #connect(exchange: Exchange): Response {
    const id = String(++this.#opened);
    const feed = this.#openFeed("the stream of the session", exchange);
    const endpoint = `event: endpoint\ndata: ?session=${id}\n\n`;
    this.#sessions.set(id, feed);
    this.#server.standalone = (message) => feed.event(`data: ${JSON.stringify(message)}\n\n`);
    if (exchange.shape === "ended") feed.end();
    else if (exchange.shape === "reset") feed.document(endpoint);
    else feed.event(endpoint);
    if (exchange.shape === "slow") feed.shape = "whole";
    return new Response(feed.body, { headers: { "content-type": "text/event-stream" } });
  }

  #post({ message, shape }: Exchange, session: string): Response {
    const feed = this.#sessions.get(session);
    if (!message || !feed?.isOpen) return new Response(null, { status: 404 });
    this.#server.receive(message, (answer) => {
      const event = `data: ${JSON.stringify(answer)}\n\n`;
      if (shape === "lost") return;
      const isLast = "id" in answer && !("method" in answer);
      if (shape === "ended" && isLast) return feed.end();
      if (shape === "reset" && isLast) {
        feed.shape = "reset";
        return feed.document(event);
      }
      feed.shape = shape === "slow" ? "slow" : "whole";
      feed.event(event);
    });
    return new Response(null, { status: 202 });
  }
}
