import { LocalError } from "../rpc/errors.ts";
import { networkOf, parseIp } from "./ip-address.ts";

/** The header in which a trusted proxy writes the client's address, and the position of its entry from the right. */
interface ProxyHeader {
  readonly header: string;
  readonly hops?: number;
}

/** The IP address of a client, and its network (`networkOf`). */
interface ClientAddress {
  readonly address: string | undefined;
  readonly network: string | undefined;
}

/** The head of a request, with its headers by their names in lower case. */
interface Head {
  header(name: string): string | undefined;
}

/**
 * Returns a function that reads the client's address from the header of a trusted proxy.
 *
 * A client can send the header itself, and a proxy appends its entry. Entries are therefore counted from the right, and
 * those to the left of the trusted one are ignored. The address is undefined if the entry is not an IP address.
 */
export function makeProxyReader(trusted: string | ProxyHeader): (head: Head) => ClientAddress {
  const { header, hops = 1 } = typeof trusted === "string" ? { header: trusted } : trusted;
  const name = header.toLowerCase();
  if (!Number.isInteger(hops) || hops < 1) {
    throw new LocalError("invalid_definition", `trustProxy.hops must be an integer of at least 1; got ${hops}.`);
  }
  return (head) => {
    const value = head.header(name);
    const entry = entriesOf(value ?? "").at(-hops) ?? "";
    const address = addressIn(name === "forwarded" ? forwardedFor(entry) : entry);
    return { address, network: address === undefined ? undefined : networkOf(address) };
  };
}

/** Returns the entries of a list header. A comma inside a quoted string does not end an entry (RFC 9110 section 5.6.4). */
function entriesOf(value: string): string[] {
  const entries = [""];
  let quoted = false;
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!;
    if (character === '"') quoted = !quoted;
    if (character === "," && !quoted) entries.push("");
    else entries[entries.length - 1] += character;
  }
  return entries.map((entry) => entry.trim());
}

/** Returns the value of `for` in an element of `Forwarded` (RFC 7239 section 4). */
function forwardedFor(element: string): string {
  for (const pair of element.split(";")) {
    const [, name = "", value = ""] = /^\s*([^=\s]+)=(.*)$/.exec(pair) ?? [];
    if (name.toLowerCase() === "for") return value.trim().replaceAll('"', "");
  }
  return "";
}

/**
 * Returns the address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`, or undefined for any other text.
 */
function addressIn(text: string): string | undefined {
  const bracketed = /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(text)?.[1];
  const address = bracketed ?? text.replace(/^([\d.]+):\d+$/, "$1");
  const bytes = parseIp(address);
  return bytes && (bracketed === undefined || bytes.length === 16) ? address : undefined;
}
