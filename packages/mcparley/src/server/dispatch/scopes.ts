import { ProtocolError } from "../../rpc/errors.ts";
import type { Principal } from "./context.ts";

/** Whether a caller has all the scopes that a thing needs. Without a caller only what needs none is granted. */
export function isGranted(needed: readonly string[] | undefined, principal: Principal | undefined): boolean {
  if (!needed || needed.length === 0) return true;
  return principal !== undefined && needed.every((scope) => principal.scopes.includes(scope));
}

/** The caller is known and lacks scopes; over HTTP the answer is 403 with `insufficient_scope` and all of them. */
class InsufficientScope extends ProtocolError {
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(forbiddenCode, `This needs the scopes ${scopes.join(" ")}.`, { data: { scopes }, status: 403 });
    this.scopes = scopes;
  }
}

/** Outside the ranges that JSON-RPC and MCP reserve, as the specification asks of codes of one's own. */
const forbiddenCode = 403;

/**
 * Refuses a caller who lacks any of the scopes that something needs, as a handler finds out from its arguments: it throws
 * the error that over HTTP is answered with 403, `insufficient_scope` and all of them (2026-07-28, authorization, Scope
 * Challenge Handling). Give all that the call needs at once.
 */
export function requireScopes(needed: readonly string[] | undefined, principal: Principal | undefined): void {
  if (!isGranted(needed, principal)) throw new InsufficientScope(needed ?? []);
}
