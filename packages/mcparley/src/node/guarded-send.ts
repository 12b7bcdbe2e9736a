import { lookup as systemLookup } from "node:dns";
import { type RequestOptions, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { addressOf, isPrivateAddress } from "../net/private-address.ts";
import type { GuardedRequest, SendGuarded } from "../auth/client/web.ts";
import { LocalError } from "../rpc/errors.ts";
import { settleResponse } from "./web-response.ts";

/** Functions that tests replace. */
export interface Network {
  lookup: typeof systemLookup;
  isPrivate: (address: string) => boolean;
}

const system: Network = { lookup: systemLookup, isPrivate: isPrivateAddress };

/**
 * Sends one request, and connects only to addresses of the public Internet, unless `allowPrivate` is set.
 *
 * The connection uses the addresses that were checked, so a second lookup of the name cannot replace them. Each request
 * opens a new connection, because the address of a reused one was not checked. Proxies of the environment are not used,
 * because they resolve names themselves.
 *
 * Rejects with `LocalError` `forbidden_url` if the address is refused, otherwise with the error of the system.
 */
export const sendGuarded: SendGuarded = (url, request) => sendThrough(system, url, request);

/** Like `sendGuarded`, with a given network. */
export async function sendThrough(network: Network, url: URL, request: GuardedRequest): Promise<Response> {
  const { method, headers, body, allowPrivate, signal } = request;
  signal.throwIfAborted();
  const address = addressOf(url.hostname);
  // A literal IP address is never resolved, so the lookup hook would not see it.
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
    // After a response, errors are reported by its body.
    outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    outgoing.on("response", (incoming) => settleResponse(incoming, resolve, reject));
    outgoing.end(body);
  });
}

/** Resolves a name. Fails if one of its addresses is not in the public Internet. */
function publicLookup({ lookup, isPrivate }: Network, url: URL): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = error ? undefined : addresses.find(({ address }) => isPrivate(address));
      if (refused) callback(refusal(url, refused.address), []);
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
