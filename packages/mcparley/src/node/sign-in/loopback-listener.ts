import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { unlessAborted } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";

const defaultOrigin = "http://127.0.0.1";
const defaultPath = "/callback";
/** A redirect URI of this machine, with or without a port. Its text is sent as it is registered. */
const loopbackUri = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:\/[^/?#][^?#]*|\/)?)$/;
/** Maximum size of a request's head in bytes. Some authorization servers issue long codes. */
const maxHeaderSize = 16_384;

/** Responses contain nothing of the request, and cannot load, run or embed anything. */
const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};
const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
const receivedPage = page("Sign-in received", "The program continues. You can close this window.");
const notExpected = page("Unexpected request", "You can close this window.");

/** Listens on a port of this machine for one redirect from an authorization server. */
export class LoopbackListener {
  readonly redirectUri: string;
  /** One server. Two if the host is `localhost`, which some programs resolve to ::1 only. */
  readonly #servers: readonly Server[];
  readonly #expectedUrl: URL;
  readonly #sockets = new Set<Socket>();
  #expectedRedirect: { readonly state: string | undefined; take(url: URL): void } | undefined;

  /**
   * Listens at `previous`, a registered redirect URI of this machine, if its port is free, and on a free port if it has none
   * (RFC 8252, 7.3). Otherwise listens on any free port of 127.0.0.1.
   */
  static async open(previous: string | undefined): Promise<LoopbackListener> {
    const [, origin = "", port, path = ""] = loopbackUri.exec(previous ?? "") ?? [];
    const isUsable = origin !== "" && (port === undefined || (Number(port) >= 1024 && Number(port) <= 65_535));
    if (isUsable) {
      try {
        return new LoopbackListener(await listenAt(origin, Number(port ?? 0)), origin, path);
      } catch {
        // The port is not free, or this machine has no such address.
      }
    }
    return new LoopbackListener(await listenAt(defaultOrigin, 0), defaultOrigin, defaultPath);
  }

  private constructor(servers: readonly Server[], origin: string, path: string) {
    this.#servers = servers;
    this.redirectUri = `${origin}:${portOf(servers[0]!)}${path}`;
    this.#expectedUrl = new URL(this.redirectUri);
    for (const http of servers) {
      http.on("request", (request, response) => this.#answer(request, response));
      http.on("connection", (socket: Socket) => {
        this.#sockets.add(socket);
        socket.once("close", () => this.#sockets.delete(socket));
      });
      // Browsers open connections without sending a request, and abort some of them.
      http.on("clientError", (_error, socket) => socket.destroy());
    }
  }

  /**
   * Resolves with the URL of the first request that has the state, or with any state if it is undefined. Other requests are
   * answered with status 404. Rejects with the reason of the signal.
   */
  async receive(state: string | undefined, signal: AbortSignal): Promise<URL> {
    const redirect = new Promise<URL>((resolve) => (this.#expectedRedirect = { state, take: resolve }));
    try {
      return await unlessAborted(redirect, signal, "The sign-in");
    } catch {
      throw signal.reason;
    } finally {
      this.#expectedRedirect = undefined;
    }
  }

  /** Stops listening, and sends the responses that were written. */
  async close(): Promise<void> {
    this.#expectedRedirect = undefined;
    const closing = this.#servers
      .filter((http) => http.listening)
      .map((http) => new Promise<void>((resolve) => void http.close(() => resolve())));
    // Browsers open connections for requests that they never send.
    for (const socket of this.#sockets) socket.destroySoon();
    await Promise.all(closing);
  }

  #answer({ method, url = "", headers: { host: requestedHost } }: IncomingMessage, response: ServerResponse): void {
    // Another Host than that of the redirect URI is a sign of DNS rebinding.
    const { host, pathname } = this.#expectedUrl;
    const isCallback = method === "GET" && requestedHost === host && url.startsWith(`${pathname}?`);
    const redirect = isCallback ? new URL(url, this.#expectedUrl) : undefined;
    const expectedRedirect = this.#expectedRedirect;
    const isExpected = redirect && expectedRedirect && matches(redirect, expectedRedirect.state);
    response.writeHead(isExpected ? 200 : 404, headers);
    response.end(isExpected ? receivedPage : notExpected);
    if (!isExpected) return;
    this.#expectedRedirect = undefined;
    expectedRedirect.take(redirect);
  }
}

/** Returns whether the state is the expected one. A repeated parameter is refused, because it can be read in two ways. */
function matches({ searchParams }: URL, expectedState: string | undefined): boolean {
  const [state, ...more] = searchParams.getAll("state");
  if (state === undefined || more.length > 0) return false;
  return expectedState === undefined || state === expectedState;
}

/** Listens at the addresses of an origin. Rejects if another program listens at one of them, because it could receive the redirect. */
async function listenAt(origin: string, port: number): Promise<Server[]> {
  if (origin.includes("[::1]")) return [await listen("::1", port)];
  const http = await listen("127.0.0.1", port);
  if (!origin.endsWith("localhost")) return [http];
  try {
    return [http, await listen("::1", portOf(http))];
  } catch (error) {
    const { code } = (error as { cause: NodeJS.ErrnoException }).cause;
    // A machine without IPv6 has no such address.
    if (code !== "EADDRINUSE") return [http];
    http.close();
    throw error;
  }
}

async function listen(host: string, port: number): Promise<Server> {
  const http = createServer({ maxHeaderSize, requestTimeout: 10_000, connectionsCheckingInterval: 5_000 });
  http.listen({ port, host, exclusive: true });
  await once(http, "listening").catch((cause: Error) => {
    const message = `Cannot listen on a port of ${host} for the redirect from the browser: ${cause.message}`;
    throw new LocalError("address_unavailable", message, { cause });
  });
  return http;
}

function portOf(http: Server): number {
  return (http.address() as AddressInfo).port;
}
