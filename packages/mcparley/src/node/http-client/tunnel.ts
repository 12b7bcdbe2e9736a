import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type Socket, connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { unreachableProxy } from "../../http/client/connection-error.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type Proxy, hostOf, portOf } from "./proxy.ts";
import type { ProxyRoute } from "./route.ts";

/** A request that is sent to a proxy. */
export interface ProxyRequestOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The connection to open through a proxy. */
interface TunnelOptions extends ProxyRoute {
  /** Ends the attempt, with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Opens a connection to the host of a URL through a proxy, with `CONNECT` (RFC 9110, 9.3.6), and with TLS for an https URL.
 *
 * Rejects with `LocalError` `unreachable` if the proxy cannot be reached or refuses the connection, with the error of TLS, or
 * with the reason of the signal. No request has been sent then.
 */
export async function openTunnel(url: URL, options: TunnelOptions): Promise<Socket> {
  const { proxy, tls, signal } = options;
  const authority = `${url.hostname}:${portOf(url)}`;
  const { response, socket } = await sendConnect(authority, options).catch((error: unknown) => {
    throw proxyFailure(url, error, options);
  });
  const { statusCode: status = 0, headers } = response;
  if (status < 200 || status > 299) {
    socket.destroy();
    throw refusedBy(proxy, url, { status, challenge: headers["proxy-authenticate"] });
  }
  if (url.protocol !== "https:") return socket;
  const servername = serverName(url);
  const tlsSocket = connectTls({
    socket,
    servername,
    // Without a server name, the certificate is compared with this address.
    host: hostOf(url),
    ALPNProtocols: ["http/1.1"],
    ...(tls && { secureContext: tls }),
  });
  return whenReady(tlsSocket, "secureConnect", signal);
}

/** Returns the reason of an abort, or else the error for an unreachable proxy. A time limit to connect is not an abort. */
function proxyFailure(url: URL, error: unknown, { proxy, signal }: TunnelOptions): unknown {
  const reason: unknown = signal.aborted ? signal.reason : error;
  const isTimeout = (reason as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT";
  return signal.aborted && !isTimeout ? reason : unreachableProxy(url, proxy, reason);
}

/** Opens a connection to a proxy that forwards the requests to an http URL. Rejects like `openTunnel`. */
export function connectToProxy(url: URL, options: TunnelOptions): Promise<Socket> {
  const { proxy, proxyTls, signal } = options;
  const [host, port] = [hostOf(proxy.url), portOf(proxy.url)];
  const secure = { host, port, servername: serverName(proxy.url), ...(proxyTls && { secureContext: proxyTls }) };
  const isSecure = proxy.url.protocol === "https:";
  const socket = isSecure ? connectTls(secure) : connectTcp({ host, port });
  return whenReady(socket, isSecure ? "secureConnect" : "connect", signal).catch((error: unknown) => {
    throw proxyFailure(url, error, options);
  });
}

/**
 * Starts a request to an http URL through a proxy, which receives the whole URL (RFC 9112, 3.2.2). Many proxies allow
 * `CONNECT` only to the port of https.
 */
export function forwardRequest(url: URL, route: ProxyRoute, options: ProxyRequestOptions): ClientRequest {
  return startRequest(route, { ...options, path: `${url.origin}${url.pathname}${url.search}` });
}

/** Starts a request to a proxy. The path is a host and port for `CONNECT`, and a whole URL for other methods. */
function startRequest({ proxy, proxyTls }: ProxyRoute, options: ProxyRequestOptions & { path: string }): ClientRequest {
  const { url, authorization } = proxy;
  const headers = { ...options.headers, ...(authorization !== undefined && { "proxy-authorization": authorization }) };
  const request = { ...options, agent: false, host: hostOf(url), port: portOf(url), headers };
  if (url.protocol === "http:") return httpRequest(request);
  // The default of the server name is the `Host` header, which names the target.
  return httpsRequest({ ...request, servername: serverName(url), ...(proxyTls && { secureContext: proxyTls }) });
}

/** Sends `CONNECT` and waits for the response, whatever its status. */
function sendConnect(
  authority: string,
  options: TunnelOptions,
): Promise<{ response: IncomingMessage; socket: Socket }> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const outgoing = startRequest(options, {
      method: "CONNECT",
      path: authority,
      signal,
      headers: { host: authority },
    });
    outgoing.on("error", reject);
    outgoing.on("connect", (response, socket, head) => {
      // The request has removed its listener, and an error without a listener would end the process.
      socket.on("error", () => {});
      if (head.length > 0) socket.unshift(head);
      resolve({ response, socket });
    });
    outgoing.end();
  });
}

/** Resolves with a socket after an event. Rejects with its error, or after an abort with the reason of the signal. */
function whenReady(socket: Socket, event: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const abort = (): void => void socket.destroy(signal.reason as Error);
    const closeError = Object.assign(new Error("The connection was closed."), {
      code: "ECONNRESET",
      syscall: "connect",
    });
    socket.on("error", (error) =>
      reject(signal.aborted ? signal.reason : Object.assign(error, { syscall: "connect" })),
    );
    socket.once("close", () => reject(closeError));
    socket.once(event, () => {
      signal.removeEventListener("abort", abort);
      resolve(socket);
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** Makes the error for a proxy that refuses a request with a status. `challenge` is its `Proxy-Authenticate`. */
export function refusedBy(
  proxy: Proxy,
  url: URL,
  { status, challenge }: { status: number; challenge: string | null | undefined },
): LocalError {
  const name = `The proxy ${proxy.url.host}`;
  const authority = `${url.hostname}:${portOf(url)}`;
  const message =
    status === 407
      ? `${name} ${authenticationProblem(proxy, challenge)}`
      : status >= 500
        ? `${name} cannot connect to ${authority} (${status}). Check that the host exists; ${directCure(proxy)}.`
        : `${name} refuses connections to ${authority} (${status}). Allow them in the proxy; ${directCure(proxy)}.`;
  return new LocalError("unreachable", message, { data: { host: url.host, proxy: proxy.url.host, status } });
}

function authenticationProblem({ url, authorization, setting }: Proxy, challenge: string | null | undefined): string {
  const schemes = [...(challenge ?? "").matchAll(/(?:^|,)\s*([\w-]+)(?=\s*(?:,|$|\s[\w-]+\s*=))/g)].map(
    ([, name = ""]) => name,
  );
  if (schemes.length > 0 && !schemes.some((name) => name.toLowerCase() === "basic")) {
    return `requires the authentication ${schemes.join(" or ")} (407), and mcparley sends only Basic. Use a proxy that accepts Basic.`;
  }
  if (authorization !== undefined) return `rejected the user and the password in ${setting} (407). Correct them.`;
  return `requires a user and a password (407). Add them to ${setting}: ${url.protocol}//USER:PASSWORD@${url.host}`;
}

function directCure({ setting }: Proxy): string {
  const how = setting === "connection.proxy" ? "do not set connection.proxy for it" : "add it to NO_PROXY";
  return `if it can be reached directly, ${how}`;
}

/** Returns the name for SNI, which must not be an IP address (RFC 6066, 3). */
function serverName(url: URL): string {
  const host = hostOf(url);
  return isIP(host) === 0 ? host : "";
}
