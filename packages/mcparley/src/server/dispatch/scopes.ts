import { ProtocolError } from "../../rpc/errors.ts";
import type { Principal } from "./context.ts";

/** Whether a caller has all the needed scopes. An anonymous caller has none. */
export function isGranted(needed: readonly string[] | undefined, principal: Principal | undefined): boolean {
  if (!needed || needed.length === 0) return true;
  return principal !== undefined && needed.every((scope) => principal.scopes.includes(scope));
}

/** Thrown if the caller lacks scopes. Over HTTP the response is 403 with `insufficient_scope` and all needed scopes. */
class InsufficientScope extends ProtocolError {
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(forbiddenCode, `This needs the scopes ${scopes.join(" ")}.`, { data: { scopes }, status: 403 });
    this.scopes = scopes;
  }
}

/** JSON-RPC error code. It is outside the ranges that JSON-RPC and MCP reserve, as the specification requires. */
const forbiddenCode = 403;

/**
 * Throws if the caller lacks any of the needed scopes. Call it in a handler if the scopes depend on the arguments, and pass
 * all scopes of the call at once. Over HTTP the response is 403 with `insufficient_scope` and all of them (2026-07-28,
 * authorization, Scope Challenge Handling).
 */
export function requireScopes(needed: readonly string[] | undefined, principal: Principal | undefined): void {
  if (!isGranted(needed, principal)) throw new InsufficientScope(needed ?? []);
}
