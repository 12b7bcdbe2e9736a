import { type Principal, principalKey } from "./dispatch/context.ts";

/** The caller whose address is unknown. All of them together have the shares of one caller. */
export const unknownCaller = "";

/**
 * Returns the key of the caller that a request counts for: its principal, or the network of its address if it is
 * anonymous. Keys of principals start with `[`, so they never equal a network.
 */
export function callerKey(principal: Principal | undefined, address: string | undefined): string {
  if (principal) return principalKey(principal);
  return address === undefined ? unknownCaller : networkOf(address);
}

/**
 * Returns the network that a valid IP address stands for: an IPv4 address itself, also in its IPv4-mapped form, and the
 * /64 prefix of an IPv6 address, because one subscriber can use all addresses of such a prefix.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [dotted = ""] = /\d+\.\d+\.\d+\.\d+$/.exec(address) ?? [];
  if (dotted && /^::ffff:/i.test(address)) return dotted;
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)) {
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  }
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(":")}::/64`;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const [withoutZone = ""] = address.split("%", 1);
  const { hostname } = new URL(`http://[${withoutZone}]/`);
  const [left = "", right] = hostname.slice(1, -1).split("::");
  const [head, tail] = [left, right ?? ""].map(readGroups) as [number[], number[]];
  const missing = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...missing, ...tail];
}

function readGroups(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}
