import { networkOf } from "../net/ip-address.ts";
import { type Principal, principalKey } from "./dispatch/context.ts";

/** Key of anonymous callers whose address is unknown. Together they have the share of one caller. */
export const unknownCaller = "";

/**
 * Returns the key of the caller that a request counts for: its principal, or the network of its address if it is
 * anonymous. Keys of principals start with `[`, so they never equal a network.
 */
export function callerKey(principal: Principal | undefined, address: string | undefined): string {
  if (principal) return principalKey(principal);
  return address === undefined ? unknownCaller : networkOf(address);
}
