import type { Principal } from "../../server/dispatch/context.ts";

/**
 * The tokens by which principals were authenticated, for their exchange alone. A handler has the principal and no way from
 * there to the token, so that it cannot pass it on by accident (2026-07-28, authorization, Access Token Privilege
 * Restriction).
 */
const tokens = new WeakMap<Principal, string>();

export function keepToken(principal: Principal, token: string): void {
  tokens.set(principal, token);
}

/** Undefined for a principal that no token of this process has authenticated. */
export function keptToken(principal: Principal): string | undefined {
  return tokens.get(principal);
}
