import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { LocalError } from "../../rpc/errors.ts";

const host = "127.0.0.1";
const path = "/callback";
/** Bytes of a request's head. Codes of some authorization servers are long. */
const maxHeaderSize = 16_384;

/** Nothing of a request comes back in a page, and a page can load, run and embed nothing. */
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
const cameBack = page("You came back", "The program that you signed in for goes on. You can close this window.");
const notExpected = page("Nothing is expected here", "You can close this window.");

/** Waits on a port of this machine for a browser to come back from an authorization server, once. */
export class LoopbackListener {
  readonly redirectUri: string;
  readonly #http: Server;
  readonly #authority: string;
  readonly #sockets = new Set<Socket>();
  #expected: { readonly state: string | undefined; take(url: URL): void } | undefined;

  /** Listens on the port of `previous`, an earlier redirect URI, where that is free; otherwise on any. */
  static async open(previous: string | undefined): Promise<LoopbackListener> {
    const http = createServer({ maxHeaderSize, requestTimeout: 10_000, connectionsCheckingInterval: 5_000 });
    const port = portOf(previous);
    if (port === undefined || !(await listens(http, port))) await listen(http, 0);
    return new LoopbackListener(http);
  }

  private constructor(http: Server) {
    this.#http = http;
    this.#authority = `${host}:${(http.address() as AddressInfo).port}`;
    this.redirectUri = `http://${this.#authority}${path}`;
    http.on("request", (request, response) => this.#answer(request, response));
    http.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // What a browser opens beside its request, or breaks off, is of no concern.
    http.on("clientError", (_error, socket) => socket.destroy());
  }

  /**
   * Resolves with the URL of the first request that comes back with the state, undefined meaning any; all others are
   * told that nothing is expected. Rejects with the signal's reason.
   */
  comeBack(state: string | undefined, signal: AbortSignal): Promise<URL> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const abort = (): void => {
        this.#expected = undefined;
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#expected = {
        state,
        take: (url) => {
          this.#expected = undefined;
          signal.removeEventListener("abort", abort);
          resolve(url);
        },
      };
    });
  }

  /** Stops listening, once the answers that were written are sent. */
  async close(): Promise<void> {
    this.#expected = undefined;
    if (!this.#http.listening) return;
    await new Promise<void>((resolve) => {
      this.#http.close(() => resolve());
      // Browsers open connections ahead of requests that never come.
      for (const socket of this.#sockets) socket.destroySoon();
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = this.#callbackOf(request);
    const expected = this.#expected;
    const isExpected = url && expected && matches(url, expected.state);
    response.writeHead(isExpected ? 200 : 404, headers);
    response.end(isExpected ? cameBack : notExpected);
    if (isExpected) expected.take(url);
  }

  /** The URL of a request for the redirect URI; undefined for any other, as of a name that was rebound to this machine. */
  #callbackOf({ method, url, headers }: IncomingMessage): URL | undefined {
    if (method !== "GET" || headers.host !== this.#authority || !url?.startsWith(`${path}?`)) return undefined;
    return new URL(url, this.redirectUri);
  }
}

/** A parameter that comes twice could be read as the one by us and as the other elsewhere. */
function matches({ searchParams }: URL, expected: string | undefined): boolean {
  const [state, ...more] = searchParams.getAll("state");
  if (state === undefined || more.length > 0) return false;
  return expected === undefined || state === expected;
}

function portOf(previous: string | undefined): number | undefined {
  const port = new RegExp(`^http://${host.replaceAll(".", "\\.")}:(\\d{4,5})${path}$`).exec(previous ?? "")?.[1];
  return port !== undefined && Number(port) >= 1024 && Number(port) <= 65_535 ? Number(port) : undefined;
}

/** Whether the port is free, and so listened on. */
function listens(http: Server, port: number): Promise<boolean> {
  return listen(http, port).then(
    () => true,
    () => false,
  );
}

function listen(http: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error): void => {
      const message = `No port of ${host} can be listened on, for a browser to come back to: ${cause.message}`;
      reject(new LocalError("address_unavailable", message, { cause }));
    };
    http.once("error", onError);
    http.listen({ port, host, exclusive: true }, () => {
      http.off("error", onError);
      resolve();
    });
  });
}
