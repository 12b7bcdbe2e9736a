import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { type IncomingMessage, type RequestOptions, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { addressOf, isPrivateAddress } from "../net/private-address.ts";
import type { GuardedRequest, SendGuarded } from "../auth/client/web.ts";
import { LocalError } from "../rpc/errors.ts";

/** What a test replaces. */
export interface Network {
  lookup: typeof systemLookup;
  isPrivate: (address: string) => boolean;
}

const system: Network = { lookup: systemLookup, isPrivate: isPrivateAddress };
/** Statuses whose responses have no body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends one request and connects to no address outside of the public Internet, unless `allowPrivate`.
 *
 * The addresses are checked that the connection is then made to, so that a name cannot lead elsewhere the second time it
 * is looked up. Each request has a connection of its own, since one that was opened for somebody else was not checked.
 * Proxies of the environment are not used, as they look names up themselves.
 *
 * Rejects with `LocalError` `forbidden_url` for an address that is refused; otherwise with what the system says.
 */
export const sendGuarded: SendGuarded = (url, request) => sendThrough(system, url, request);

/** Like `sendGuarded`, on a network of one's own. */
export async function sendThrough(network: Network, url: URL, request: GuardedRequest): Promise<Response> {
  const { method, headers, body, allowPrivate, signal } = request;
  signal.throwIfAborted();
  const address = addressOf(url.hostname);
  // The system looks no addresses up.
  if (address !== undefined && !allowPrivate && network.isPrivate(address)) throw refusal(url, address);
  const options: RequestOptions = {
    method,
    agent: false,
    signal,
    headers: { "accept-encoding": "identity", ...headers },
  };
  if (!allowPrivate) options.lookup = publicLookup(network, url);
  return new Promise((resolve, reject) => {
    const outgoing = url.protocol === "https:" ? httpsRequest(url, options) : httpRequest(url, options);
    // Once there is a response, it is its body that fails.
    outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    outgoing.on("response", (incoming) => {
      try {
        resolve(toResponse(incoming));
      } catch (error) {
        // A status or a header that HTTP does not know.
        incoming.destroy();
        reject(error);
      }
    });
    outgoing.end(body);
  });
}

/** Looks names up, and fails for one that leads anywhere but to the public Internet. */
function publicLookup({ lookup, isPrivate }: Network, url: URL): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = error ? undefined : addresses.find(({ address }) => isPrivate(address));
      if (refused) callback(refusal(url, refused.address), []);
      else if (error || options.all) callback(error, addresses);
      else callback(null, ...only(addresses));
    });
  };
}

function only(addresses: readonly LookupAddress[]): [string, number] {
  const [first] = addresses;
  return [first?.address ?? "", first?.family ?? 0];
}

function refusal(url: URL, address: string): LocalError {
  const where = url.hostname === address || url.hostname === `[${address}]` ? "is" : `leads to ${address},`;
  const message =
    `Nothing is sent to ${url.host}: it ${where} an address outside of the public Internet, ` +
    `and the MCP server that refers to it is a public one. Give allowPrivateNetwork: true if that is meant to be.`;
  return new LocalError("forbidden_url", message, { data: { host: url.host, address } });
}

function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  if (withoutBody.has(status)) incoming.resume();
  const body = withoutBody.has(status) ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  return new Response(body, { status, headers });
}
