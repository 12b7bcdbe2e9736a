import { httpTransports } from "../../../packages/mcparley/src/http/client/transport.ts";
import type { TransportFactory } from "../../../packages/mcparley/src/client/connect/transports.ts";
import { type JsonRpcMessage, isRequest } from "../../../packages/mcparley/src/rpc/messages.ts";
import type { SteppedClock } from "../stepped-clock.ts";
import { Feed, type Shape, connectionRefused, connectionReset } from "./feed.ts";
import { HttpSseEndpoint } from "./http-sse-endpoint.ts";
import type { ScriptedServer } from "./scripted-server.ts";
import { StreamableEndpoint } from "./streamable-endpoint.ts";
import { Faults, type RequestFault, type World } from "./world.ts";

/** One HTTP request as the server receives it. */
export interface Exchange {
  method: string;
  url: URL;
  headers: Headers;
  /** The message of a POST. */
  message: JsonRpcMessage | undefined;
  signal: AbortSignal | undefined;
  /** The fate of the answer. */
  shape: Shape;
}

/** Answers HTTP requests: the endpoint of Streamable HTTP, or of HTTP+SSE. */
export interface Endpoint {
  /** The name of a request without a message, for counting. */
  nameOf(exchange: Exchange): string;
  serve(exchange: Exchange): Response;
  /** Forgets all sessions and ends their streams. */
  forgetSessions(): void;
}

/** Opens the body of a response. Its end is noted. */
export type OpenFeed = (what: string, exchange: Exchange) => Feed;

const shapes: Partial<Record<RequestFault, Shape>> = {
  "slow-body": "slow",
  "reset-in-answer": "reset",
  "graceful-end": "ended",
};

/** An HTTP server behind a `fetch` in memory. */
export class HttpWorld implements World {
  readonly faults = new Faults();
  readonly transports: TransportFactory;
  /** The server has the transport of 2024-11-05. */
  isHttpSse: boolean;
  readonly #clock: SteppedClock;
  readonly #open = new Map<object, { what: string; feed?: Feed }>();
  #server: ScriptedServer;
  #endpoint: Endpoint;

  constructor(
    server: ScriptedServer,
    { url, clock, isHttpSse }: { url: string; clock: SteppedClock; isHttpSse: boolean },
  ) {
    this.#clock = clock;
    this.isHttpSse = isHttpSse;
    this.#server = server;
    this.#endpoint = this.#makeEndpoint();
    this.transports = httpTransports({ url, clock, fetch: this.#fetch as typeof fetch });
  }

  get server(): ScriptedServer {
    return this.#server;
  }

  replace(server: ScriptedServer, isHttpSse: boolean = this.isHttpSse): void {
    this.#server = server;
    this.isHttpSse = isHttpSse;
    this.#endpoint = this.#makeEndpoint();
    this.breakStreams("reset");
  }

  breakStreams(how: "reset" | "end"): void {
    for (const { feed } of this.#open.values()) {
      if (how === "reset") feed?.reset();
      else feed?.end();
    }
  }

  exit(): void {
    throw new Error("The client does not see the process of an HTTP server.");
  }

  open(): string[] {
    return [...this.#open.values()].map(({ what }) => what);
  }

  #makeEndpoint(): Endpoint {
    const openFeed: OpenFeed = (what, { signal, shape }) => {
      const feed: Feed = new Feed(this.#clock, { signal, shape, onClosed: () => void this.#open.delete(feed) });
      this.#open.set(feed, { what, feed });
      return feed;
    };
    return this.isHttpSse
      ? new HttpSseEndpoint(this.#server, openFeed)
      : new StreamableEndpoint(this.#server, openFeed);
  }

  readonly #fetch = async (input: URL, init: RequestInit = {}): Promise<Response> => {
    const { method = "GET", signal, body } = init;
    signal?.throwIfAborted();
    const message = typeof body === "string" ? (JSON.parse(body) as JsonRpcMessage) : undefined;
    const headers = new Headers(init.headers);
    const exchange: Exchange = { method, url: input, headers, message, signal: signal ?? undefined, shape: "whole" };
    const name = message ? nameOfMessage(message) : this.#endpoint.nameOf(exchange);
    const fault = this.faults.note(name);
    await Promise.resolve();
    return fault ? this.#strike(fault, exchange) : this.#endpoint.serve(exchange);
  };

  #strike(fault: RequestFault, exchange: Exchange): Response | Promise<Response> {
    switch (fault) {
      case "refused":
      case "refused-for-long":
        throw connectionRefused();
      case "reset-before":
        throw connectionReset();
      case "reset-after":
        // The answer is lost, also on the stream of HTTP+SSE.
        this.#endpoint.serve({ ...exchange, shape: "lost" });
        throw connectionReset();
      case "session-404":
      case "session-404-for-long":
        this.#endpoint.forgetSessions();
        return this.#endpoint.serve(exchange);
      case "hang":
      case "aborted":
      case "closed":
        return this.#hang(exchange);
      default: {
        const shape = shapes[fault];
        return shape ? this.#endpoint.serve({ ...exchange, shape }) : refusal(fault, exchange);
      }
    }
  }

  #hang({ signal }: Exchange): Promise<Response> {
    const request = {};
    this.#open.set(request, { what: "a request without an answer" });
    return new Promise((_, reject) => {
      const abort = (): void => {
        this.#open.delete(request);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", abort, { once: true });
    });
  }
}

/** The name of a message, for counting. */
export function nameOfMessage(message: JsonRpcMessage): string {
  return "method" in message ? message.method : "response";
}

/** A response with the status that a fault names. */
function refusal(fault: RequestFault, { message }: Exchange): Response {
  const status = Number.parseInt(fault, 10);
  if (fault.endsWith("-rpc")) {
    const id = message && isRequest(message) ? message.id : undefined;
    const error = { code: -32603, message: "Internal error" };
    return Response.json({ jsonrpc: "2.0", ...(id !== undefined && { id }), error }, { status });
  }
  if (status === 502) {
    return new Response("<html>Bad gateway</html>", { status, headers: { "content-type": "text/html" } });
  }
  return new Response(null, { status, headers: status === 429 ? { "retry-after": "2" } : {} });
}
