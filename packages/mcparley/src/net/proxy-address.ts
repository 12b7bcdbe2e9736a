import { LocalError } from "../rpc/errors.ts";
import { networkOf } from "../server/caller.ts";
import type { RequestHead, RequestSource } from "../http/exchange.ts";
import type { TrustedProxy } from "../http/server/options.ts";

const unknown: RequestSource = { address: undefined, network: undefined };
const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

/**
 * Makes a function that reads the client's address from the header of a trusted proxy.
 *
 * A client can send the header itself; a proxy adds its entry at the end. So entries are counted from the right, and
 * what is left of the trusted ones is never read. A value that is no IP address means that the address is unknown.
 */
export function makeProxyReader(trusted: string | TrustedProxy): (head: RequestHead) => RequestSource {
  const { header, hops = 1 } = typeof trusted === "string" ? { header: trusted } : trusted;
  const name = header.toLowerCase();
  if (!Number.isInteger(hops) || hops < 1) {
    throw new LocalError("invalid_definition", `trustProxy.hops must be an integer of at least 1; got ${hops}.`);
  }
  return (head) => {
    const value = head.header(name);
    if (value === undefined) return unknown;
    const entry = entriesOf(value).at(-hops) ?? "";
    const address = addressIn(name === "forwarded" ? forwardedFor(entry) : entry);
    return address === undefined ? unknown : { address, network: networkOf(address) };
  };
}

/** The entries of a list header; a comma inside a quoted string does not end an entry (RFC 9110 section 5.6.4). */
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

/** The value of `for` in an element of `Forwarded` (RFC 7239 section 4). */
function forwardedFor(element: string): string {
  for (const pair of element.split(";")) {
    const [, name = "", value = ""] = /^\s*([^=\s]+)=(.*)$/.exec(pair) ?? [];
    if (name.toLowerCase() === "for") return value.trim().replaceAll('"', "");
  }
  return "";
}

/** The address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`; undefined for anything else. */
function addressIn(text: string): string | undefined {
  const bracketed = /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(text)?.[1];
  const plain = bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
  if (!bracketed && ipv4.test(plain)) return plain;
  const isIpv6 = /^[\da-f:.]+$/i.test(plain) && plain.includes(":") && URL.canParse(`http://[${plain}]/`);
  return isIpv6 ? plain : undefined;
}
