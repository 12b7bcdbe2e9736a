import { ProtocolError } from "../../rpc/errors.ts";
import type { ServerCore } from "./server-core.ts";
import type { Principal } from "./context.ts";

/** Whether a caller has all the needed scopes. An anonymous caller has none. */
export function isGranted(requiredScopes: readonly string[] | undefined, principal: Principal | undefined): boolean {
  if (!requiredScopes || requiredScopes.length === 0) return true;
  return principal !== undefined && requiredScopes.every((scope) => principal.scopes.includes(scope));
}

/** The caller lacks scopes. Over HTTP the response is 403 with `insufficient_scope` and all needed scopes. */
export class InsufficientScope extends ProtocolError {
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(forbiddenCode, `This needs the scopes ${scopes.join(" ")}.`, { data: { scopes }, status: 403 });
    this.scopes = scopes;
  }
}

/** JSON-RPC error code. It is outside the ranges that JSON-RPC and MCP reserve, as the specification requires. */
const forbiddenCode = 403;

/**
 * Throws a `ProtocolError` if the caller lacks any of the needed scopes.
 *
 * Call it in a handler if the scopes depend on the arguments, and pass all scopes of the call at once. Otherwise set `scopes`
 * of the definition. Over HTTP the response is 403 with `insufficient_scope` and all needed scopes (2026-07-28,
 * authorization, Scope Challenge Handling).
 *
 * @example
 * ```ts
 * import { requireScopes, tool } from "mcparley/server";
 * import { z } from "zod";
 *
 * const remove = tool({
 *   description: "Removes a file.",
 *   input: z.object({ folder: z.string(), file: z.string() }),
 *   call: ({ folder, file }, { principal }) => {
 *     requireScopes([`write:${folder}`], principal);
 *     return `Removed ${file}.`;
 *   },
 * });
 * ```
 */
export function requireScopes(needed: readonly string[] | undefined, principal: Principal | undefined): void {
  if (!isGranted(needed, principal)) throw new InsufficientScope(needed ?? []);
}

/** Returns the scopes that a caller needs to read a resource. Undefined if it needs none, or if no resource has the URI. */
export function scopesOf({ offering }: ServerCore, uri: string): readonly string[] | undefined {
  const scopes = offering.resourceIndex?.find(uri)?.entry.definition.scopes;
  return scopes?.length ? scopes : undefined;
}

/**
 * Whether a caller may receive the updates of a resource: it has the scopes that it needs to read the resource, and the
 * token that granted them has not expired. Checked again at each delivery, because a subscription outlives its request.
 */
export function mayReceive(core: ServerCore, uri: string, principal: Principal | undefined): boolean {
  const scopes = scopesOf(core, uri);
  if (!scopes) return true;
  const expiry = principal?.claims?.exp;
  if (typeof expiry === "number" && expiry * 1000 <= core.clock.now()) return false;
  return isGranted(scopes, principal);
}
