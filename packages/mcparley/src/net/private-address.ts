/** An IP address as its bytes: 4, or 16. */
type Bytes = readonly number[];

/** A block of addresses: those whose first `bits` are those of `start`. */
interface Block {
  readonly start: Bytes;
  readonly bits: number;
}

/**
 * What of IPv4 is not for the whole Internet: the networks of the special-purpose registry (RFC 6890) that are not
 * globally reachable, with multicast and what is reserved.
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

/** All that is assigned to the whole Internet in IPv6; loopback, link-local, unique local and multicast are outside. */
const globalV6 = blocks(["2000::/3"]);

/** What of it is for other uses: protocol assignments with Teredo, documentation, and 6to4, which leads into IPv4. */
const privateV6 = blocks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** IPv4 addresses in the clothes of IPv6: mapped ones, and those that NAT64 gives to hosts without IPv4 (RFC 6052). */
const embeddedV4 = blocks(["::ffff:0:0/96", "64:ff9b::/96"]);

/**
 * Whether an IP address is not one of the public Internet: private, loopback, link-local, shared (CGNAT), multicast or
 * reserved. What cannot be read as an address counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  const bytes = parseV4(address) ?? parseV6(address);
  if (!bytes) return true;
  if (bytes.length === 4) return isIn(privateV4, bytes);
  if (isIn(embeddedV4, bytes)) return isIn(privateV4, bytes.slice(12));
  return !isIn(globalV6, bytes) || isIn(privateV6, bytes);
}

/** The IP address that the host of a URL is, without the brackets; undefined for a name. */
export function addressOf(hostname: string): string | undefined {
  if (hostname.startsWith("[") && hostname.endsWith("]")) return hostname.slice(1, -1);
  return parseV4(hostname) && hostname;
}

/**
 * Whether the host of a URL is no host of the public Internet by its own looks: a private address, or a name that the
 * public DNS never has (RFC 6761, RFC 6762, RFC 8375, `.internal`, and names without a dot). A name that merely leads to a
 * private address is not known here.
 */
export function isPrivateHost(hostname: string): boolean {
  const address = addressOf(hostname);
  if (address !== undefined) return isPrivateAddress(address);
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return !name.includes(".") || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}

/** Whether the host of a URL is this machine by its own looks. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || parseV4(name)?.[0] === 127;
}

function isIn(list: readonly Block[], address: Bytes): boolean {
  return list.some(({ start, bits }) => start.length === address.length && hasPrefix(address, start, bits));
}

function hasPrefix(address: Bytes, start: Bytes, bits: number): boolean {
  for (let i = 0, left = bits; left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((address[i] ?? 0) & mask) !== ((start[i] ?? 0) & mask)) return false;
  }
  return true;
}

function blocks(list: readonly string[]): Block[] {
  return list.map((text) => {
    const [address = "", bits] = text.split("/");
    return { start: parseV4(address) ?? parseV6(address) ?? [], bits: Number(bits) };
  });
}

/** Reads four decimal numbers, the one form that URLs and resolvers give. */
function parseV4(text: string): Bytes | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** Reads groups of hexadecimal digits, `::` for a row of zeros, and the last four bytes as IPv4; no zone. */
function parseV6(text: string): Bytes | undefined {
  const halves = text.split("::");
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":").flatMap(groupBytes)));
  if (halves.length > 2 || !head || head.includes(NaN) || tail?.includes(NaN)) return undefined;
  if (!tail) return head.length === 16 ? head : undefined;
  const zeros = 16 - head.length - tail.length;
  return zeros >= 2 ? [...head, ...Array<number>(zeros).fill(0), ...tail] : undefined;
}

function groupBytes(group: string, index: number, groups: string[]): number[] {
  const v4 = index === groups.length - 1 ? parseV4(group) : undefined;
  if (v4) return [...v4];
  const value = /^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : Number.NaN;
  return Number.isNaN(value) ? [value] : [value >> 8, value & 0xff];
}
