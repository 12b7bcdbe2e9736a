import { setMaxListeners } from "node:events";
import { type ClientRequest, Agent as HttpAgent, type RequestOptions, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { RequestQueue } from "./request-queue.ts";
import { settleResponse } from "./web-response.ts";

/** Limits that tests shorten. */
interface HttpFetchLimits {
  /** Maximum number of requests to one origin at the same time, without those of high priority. Default: 128. */
  requests?: number;
  /** Milliseconds without a finished request after which the running requests no longer count. Default: 1,000. */
  roundMs?: number;
  /** Milliseconds to connect, with name lookup and TLS. Default: 10,000. */
  connectMs?: number;
  /** Milliseconds after which an idle connection is closed. Servers often close it after 5 seconds. Default: 4,000. */
  idleMs?: number;
}

type Limits = Required<HttpFetchLimits>;
type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

const defaultLimits: Limits = { requests: 128, roundMs: 1_000, connectMs: 10_000, idleMs: 4_000 };

/** The headers that the `fetch` of Node sends. Some firewalls refuse requests without a user agent. */
const defaultHeaders = { "user-agent": "node", "accept-encoding": "gzip, br" };

/**
 * Makes a `fetch` on `node:http` and `node:https` that reuses connections and has no time limit for responses.
 *
 * It accepts a string as body, follows no redirects, and repeats no request. Errors have the code of the system. An error
 * before a connection exists has the `syscall` "connect", because the server has certainly not received the request.
 */
export function httpFetch(given: HttpFetchLimits = {}): Fetch {
  const limits = { ...defaultLimits, ...given };
  const options = { keepAlive: true, maxFreeSockets: limits.requests, timeout: limits.idleMs };
  const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
  const queues = new Map<string, RequestQueue>();
  return async (url, init) => {
    const { signal, priority } = init;
    signal?.throwIfAborted();
    // Many requests may share a signal, and each removes its listener.
    if (signal) setMaxListeners(0, signal);
    const agent = url.protocol === "https:" ? agents["https:"] : agents["http:"];
    if (priority === "high") return start(url, init, { agent, limits, done: () => {} });
    const queue = queues.get(url.origin) ?? new RequestQueue(limits.requests, limits.roundMs);
    queues.set(url.origin, queue);
    const entered = queue.enter(signal);
    const place = entered instanceof Promise ? await entered : entered;
    const done = (): void => {
      queue.leave(place);
      if (queue.isEmpty && queues.get(url.origin) === queue) queues.delete(url.origin);
    };
    return start(url, init, { agent, limits, done });
  };
}

interface Sending {
  agent: HttpAgent;
  limits: Limits;
  /** Called when the response has been read to its end, or has failed. */
  done: () => void;
}

function start(url: URL, init: RequestInit, { agent, limits, done }: Sending): Promise<Response> {
  const { method = "GET", signal, body } = init;
  return new Promise((resolve, reject) => {
    const headers = { ...defaultHeaders, ...(init.headers as Record<string, string>) };
    const options: RequestOptions = { method, headers, agent };
    const outgoing = url.protocol === "https:" ? httpsRequest(url, options) : httpRequest(url, options);
    let stop = (reason: Error): void => void outgoing.destroy(reason);
    const abort = (): void => stop(signal?.reason as Error);
    const connection = watchConnection(outgoing, limits.connectMs);
    signal?.addEventListener("abort", abort, { once: true });
    outgoing.on("error", (error) => reject(signal?.aborted ? signal.reason : connection.explain(error)));
    outgoing.on("response", (incoming) => {
      // From now on, an abort is reported as an error of the body.
      stop = (reason) => void incoming.destroy(reason);
      settleResponse(incoming, resolve, reject);
    });
    outgoing.once("close", () => {
      signal?.removeEventListener("abort", abort);
      done();
      // The server switched protocols without a request for it. Has no effect after a response.
      reject(Object.assign(new Error("The connection was closed without a response."), { code: "ECONNRESET" }));
    });
    outgoing.end(body as string | undefined);
  });
}

/** Limits the time to connect. `explain` marks the errors of a request without a connection. */
function watchConnection(outgoing: ClientRequest, connectMs: number): { explain(error: Error): Error } {
  let isConnected = false;
  outgoing.once("socket", (socket: Socket) => {
    if (outgoing.reusedSocket) {
      isConnected = true;
      return;
    }
    // If a response arrives before its request was sent, Node still sends the body and removes its own listener. An error of
    // the connection would then end the process.
    socket.on("error", () => {});
    const timer = setTimeout(() => {
      const message = `No connection within ${connectMs} ms`;
      outgoing.destroy(Object.assign(new Error(message), { code: "ETIMEDOUT" }));
    }, connectMs);
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
      isConnected = true;
      clearTimeout(timer);
    });
    socket.once("close", () => clearTimeout(timer));
  });
  return { explain: (error) => (isConnected ? error : Object.assign(error, { syscall: "connect" })) };
}
