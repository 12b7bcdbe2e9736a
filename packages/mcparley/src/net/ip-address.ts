const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Parses an IP address without brackets and zone into its 4 or 16 bytes. Returns undefined for any other text. */
export function parseIp(text: string): readonly number[] | undefined {
  return parseV4(text) ?? parseV6(text);
}

/**
 * Returns the network that limits per client count for a valid IP address: an IPv4 address itself, also in its IPv4-mapped
 * form, and the /64 prefix of an IPv6 address, because one subscriber can use all addresses of such a prefix.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [withoutZone = ""] = address.split("%", 1);
  const bytes = parseIp(withoutZone);
  if (!bytes) return address;
  const isMapped = bytes.slice(0, 12).every((byte, index) => byte === (index < 10 ? 0 : 255));
  if (isMapped) return bytes.slice(12).join(".");
  const groups = [0, 2, 4, 6].map((index) => ((bytes[index]! << 8) | bytes[index + 1]!).toString(16));
  return `${groups.join(":")}::/64`;
}

/** Accepts no leading zeros, because other parsers read "010" as octal. */
function parseV4(text: string): number[] | undefined {
  return ipv4.test(text) ? text.split(".").map(Number) : undefined;
}

/** Groups of hexadecimal digits, `::` for a run of zeros, and optionally the last four bytes as IPv4. */
function parseV6(text: string): number[] | undefined {
  const halves = text.split("::");
  const [head, tail] = halves.map((half, index) => readGroups(half, index === halves.length - 1));
  if (halves.length > 2 || !head || head.includes(Number.NaN) || tail?.includes(Number.NaN)) return undefined;
  if (!tail) return head.length === 16 ? head : undefined;
  const zeros = 16 - head.length - tail.length;
  return zeros >= 2 ? [...head, ...Array<number>(zeros).fill(0), ...tail] : undefined;
}

/** Returns the bytes of groups that are separated by colons. An invalid group is NaN. */
function readGroups(half: string, isEnd: boolean): number[] {
  if (half === "") return [];
  return half.split(":").flatMap((group, index, all) => {
    const v4 = isEnd && index === all.length - 1 ? parseV4(group) : undefined;
    if (v4) return v4;
    const value = /^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : Number.NaN;
    return [value >> 8, Number.isNaN(value) ? value : value & 0xff];
  });
}
