import { LocalError } from "../rpc/errors.ts";
import { networkOf, parseIp } from "./ip-address.ts";

/** The header in which a trusted proxy writes the client's address, and the position of its entry from the right. */
interface ProxyHeader {
  readonly header: string;
  readonly hops?: number;
}

/** The IP address of a client, and its network (`networkOf`). */
interface ClientAddress {
  readonly address: string;
  readonly network: string;
}

/** The head of a request, with its headers by their names in lower case. */
interface Head {
  header(name: string): string | undefined;
}

/**
 * Returns a function that reads the client's address from the header of a trusted proxy. It returns undefined if the header
 * cannot be parsed as a whole, or if the trusted entry is not an IP address.
 *
 * A client can send the header itself, and a proxy appends its entry. Entries are therefore counted from the right, and
 * those to the left of the trusted one are ignored.
 */
export function makeProxyReader(trustedProxy: string | ProxyHeader): (head: Head) => ClientAddress | undefined {
  const { header, hops = 1 } = typeof trustedProxy === "string" ? { header: trustedProxy } : trustedProxy;
  const name = header.toLowerCase();
  if (!Number.isInteger(hops) || hops < 1) {
    throw new LocalError("invalid_definition", `trustProxy.hops must be an integer of at least 1; got ${hops}.`);
  }
  const parse = name === "forwarded" ? parseForwarded : parseList;
  return (head) => {
    const address = addressIn(parse(head.header(name) ?? "").at(-hops) ?? "");
    return address === undefined ? undefined : { address, network: networkOf(address) };
  };
}

/** Returns the entries of a list without quoted strings, as `X-Forwarded-For` is. None if an entry has a character of no address. */
function parseList(value: string): string[] {
  return /^[\w.:,[\]% \t-]*$/.test(value) ? value.split(",").map((entry) => entry.trim()) : [];
}

/** A parameter of an element of `Forwarded`, and the separator behind it. Many proxies do not quote the colons and brackets of addresses. */
const forwardedPair = /[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~:[\]-]+)|"((?:[^"\\]|\\.)*)")[ \t]*([;,]|$)/sy;

/** Returns the value of `for` in each element of `Forwarded` (RFC 7239, section 4). None if the header is malformed. */
function parseForwarded(value: string): string[] {
  const clients: string[] = [];
  let client: string | undefined;
  for (let position = 0, separator = ","; separator !== ""; position = forwardedPair.lastIndex) {
    forwardedPair.lastIndex = position;
    const [, name = "", token, quotedText = "", next = ""] = forwardedPair.exec(value) ?? [];
    const isRepeated = client !== undefined && name.toLowerCase() === "for";
    if (name === "" || isRepeated) return [];
    if (name.toLowerCase() === "for") client = token ?? quotedText;
    separator = next;
    if (separator === ";") continue;
    clients.push(client ?? "");
    client = undefined;
  }
  return clients;
}

/**
 * Returns the address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`, or undefined for any other text.
 */
function addressIn(text: string): string | undefined {
  const textInBrackets = /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(text)?.[1];
  const address = textInBrackets ?? text.replace(/^([\d.]+):\d+$/, "$1");
  const bytes = parseIp(address);
  return bytes && (textInBrackets === undefined || bytes.length === 16) ? address : undefined;
}
