import { lookup as systemLookup } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { Readable, pipeline } from "node:stream";
import { addressOf, isPrivateAddress } from "../net/private-address.ts";
import type { GuardedRequest, SendGuarded } from "../auth/client/web.ts";
import { unreachableProxy } from "../http/client/connection-error.ts";
import { LocalError } from "../rpc/errors.ts";
import { decoderFor } from "./http-client/decoder.ts";
import type { Environment } from "./http-client/proxy.ts";
import { type Route, hasProxy, routeTo } from "./http-client/route.ts";
import { type ProxyRequestOptions, forwardRequest, openTunnel, refusedBy } from "./http-client/tunnel.ts";

/** Functions and variables that tests replace. */
export interface Network {
  lookup: typeof systemLookup;
  isPrivate: (address: string) => boolean;
  env: Environment;
}

const system: Network = { lookup: systemLookup, isPrivate: isPrivateAddress, env: process.env };

/**
 * Sends one request, and connects only to addresses of the public Internet, unless `allowPrivate` is set.
 *
 * The connection uses the addresses that were checked, so a second lookup of the name cannot replace them. Each request
 * opens a new connection, because the address of a reused one was not checked.
 *
 * A proxy resolves names itself. Through a proxy, only an IP address in the URL can be checked. The proxy decides which
 * addresses a name may lead to.
 *
 * Rejects with `LocalError` `forbidden_url` if the address is refused and `unreachable` if a proxy fails, otherwise with the
 * error of the system.
 */
export const sendGuarded: SendGuarded = (url, request) => sendThrough(system, url, request);

/** Like `sendGuarded`, with a given network. */
export async function sendThrough(network: Network, url: URL, request: GuardedRequest): Promise<Response> {
  const { method, headers, body, allowPrivate, connection, signal } = request;
  signal.throwIfAborted();
  const address = addressOf(url.hostname);
  // A literal IP address is never resolved, so the lookup hook would not see it.
  if (address !== undefined && !allowPrivate && network.isPrivate(address)) throw refusal(url, address);
  const route = routeTo(url, connection, network.env);
  const tunnel = hasProxy(route) && url.protocol === "https:" ? await openTunnel(url, { ...route, signal }) : undefined;
  /** The proxy that forwards the request, for an http URL. */
  const proxy = tunnel ? undefined : route.proxy;
  const explain = (error: Error): Error =>
    proxy && !(error instanceof LocalError) ? unreachableProxy(url, proxy, error) : error;
  const options = { method, signal, headers: { host: url.host, "accept-encoding": "identity", ...headers } };
  const lookup = allowPrivate ? undefined : publicLookup(network, url);
  return new Promise((resolve, reject) => {
    const outgoing = startRequest(url, options, { route, tunnel, lookup });
    // After a response, errors are reported by its body.
    outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : explain(error)));
    outgoing.on("response", (incoming) => {
      const { statusCode: status, headers: responseHeaders } = incoming;
      // The server may have sent other statuses.
      const isRefused = proxy !== undefined && status === 407;
      if (isRefused)
        outgoing.destroy(refusedBy(proxy, url, { status, challenge: responseHeaders["proxy-authenticate"] }));
      else settleResponse(incoming, resolve, reject);
    });
    outgoing.end(body);
  });
}

interface Started {
  route: Route;
  /** The connection through the proxy, for an https URL. */
  tunnel: Socket | undefined;
  lookup: LookupFunction | undefined;
}

function startRequest(url: URL, options: ProxyRequestOptions, { route, tunnel, lookup }: Started): ClientRequest {
  if (tunnel) return httpsRequest(url, { ...options, createConnection: () => tunnel });
  if (hasProxy(route)) return forwardRequest(url, route, options);
  const { tls: secureContext } = route;
  const direct = { ...options, agent: false, ...(lookup && { lookup }) };
  if (url.protocol === "http:") return httpRequest(url, direct);
  return httpsRequest(url, { ...direct, ...(secureContext && { secureContext }) });
}

/** Resolves a name. Fails if one of its addresses is not in the public Internet. */
function publicLookup({ lookup, isPrivate }: Network, url: URL): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const privateAddress = error ? undefined : addresses.find(({ address }) => isPrivate(address));
      if (privateAddress) callback(refusal(url, privateAddress.address), []);
      else if (error || options.all) callback(error, addresses);
      else callback(null, addresses[0]?.address ?? "", addresses[0]?.family ?? 0);
    });
  };
}

function refusal(url: URL, address: string): LocalError {
  const where = url.hostname === address || url.hostname === `[${address}]` ? "is" : `resolves to ${address},`;
  const message =
    `Refused to send a request to ${url.host}: it ${where} an address outside of the public Internet, ` +
    `but the MCP server that refers to it is public. Set allowPrivateNetwork: true to allow this.`;
  return new LocalError("forbidden_url", message, { data: { host: url.host, address } });
}

/** The statuses of responses without a body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Calls `resolve` with a web response. Its body is decoded, as `fetch` does. If the status or a header is invalid, calls
 * `reject` and closes the connection.
 */
function settleResponse(
  incoming: IncomingMessage,
  resolve: (response: Response) => void,
  reject: (error: unknown) => void,
): void {
  try {
    resolve(webResponse(incoming));
  } catch (error) {
    incoming.destroy();
    reject(error);
  }
}

function webResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  if (withoutBody.has(status)) incoming.resume();
  const body = withoutBody.has(status) ? null : (Readable.toWeb(decodeBody(incoming)) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText, headers });
}

/** Returns the body without its content encodings. */
function decodeBody(incoming: IncomingMessage): Readable {
  const decoder = decoderFor(incoming.headers["content-encoding"] ?? "");
  if (!decoder) return incoming;
  // The reader of the decoded body gets the error.
  pipeline(incoming, decoder.first, () => {});
  return decoder.last;
}
