import { parseIp } from "./ip-address.ts";

/** The addresses whose first `bits` bits equal those of `start`. */
interface Block {
  readonly start: readonly number[];
  readonly bits: number;
}

/**
 * The networks of the IPv4 special-purpose registry (RFC 6890) that are not globally reachable, multicast, and reserved
 * addresses.
 */
const privateV4 = blocks([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
]);

/** The global unicast addresses of IPv6. Loopback, link-local, unique local and multicast addresses are outside. */
const globalV6 = blocks(["2000::/3"]);

/**
 * Blocks of `globalV6` for other uses: protocol assignments such as Teredo, documentation, and 6to4, which leads to IPv4.
 */
const privateV6 = blocks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** IPv6 addresses that contain an IPv4 address: mapped ones, and those of NAT64 (RFC 6052). */
const embeddedV4 = blocks(["::ffff:0:0/96", "64:ff9b::/96"]);

/**
 * Returns whether an IP address is not on the public Internet: private, loopback, link-local, shared (CGNAT), multicast or
 * reserved. Text that is not an IP address counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  const bytes = parseIp(address);
  if (!bytes) return true;
  if (bytes.length === 4) return isIn(privateV4, bytes);
  if (isIn(embeddedV4, bytes)) return isIn(privateV4, bytes.slice(12));
  return !isIn(globalV6, bytes) || isIn(privateV6, bytes);
}

/** Returns the IP address in the hostname of a URL, without brackets. Returns undefined if the hostname is a name. */
export function addressOf(hostname: string): string | undefined {
  if (hostname.startsWith("[") && hostname.endsWith("]")) return hostname.slice(1, -1);
  return parseIp(hostname) && hostname;
}

/**
 * Returns whether the hostname of a URL is not on the public Internet: a private address, or a name that the public DNS does
 * not contain (RFC 6761, RFC 6762, RFC 8375, `.internal`, and names without a dot). The name is not resolved, so a public
 * name with a private address is not detected.
 */
export function isPrivateHost(hostname: string): boolean {
  const address = addressOf(hostname);
  if (address !== undefined) return isPrivateAddress(address);
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return !name.includes(".") || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}

function isIn(list: readonly Block[], address: readonly number[]): boolean {
  return list.some(({ start, bits }) => start.length === address.length && hasPrefix(address, start, bits));
}

function hasPrefix(address: readonly number[], start: readonly number[], bits: number): boolean {
  for (let i = 0, bitsLeft = bits; bitsLeft > 0; i++, bitsLeft -= 8) {
    const mask = bitsLeft >= 8 ? 0xff : (0xff << (8 - bitsLeft)) & 0xff;
    if (((address[i] ?? 0) & mask) !== ((start[i] ?? 0) & mask)) return false;
  }
  return true;
}

function blocks(list: readonly string[]): Block[] {
  return list.map((text) => {
    const [address = "", bits] = text.split("/");
    return { start: parseIp(address) ?? [], bits: Number(bits) };
  });
}
