import type { ServerCore } from "../core.ts";
import type { Principal } from "../dispatch/context.ts";
import { isGranted } from "../dispatch/scopes.ts";

/** Returns the scopes that a caller needs to read a resource. Undefined if it needs none, or if no resource has the URI. */
export function scopesOf({ offering }: ServerCore, uri: string): readonly string[] | undefined {
  const scopes = offering.resourceIndex.find(uri)?.entry.definition.scopes;
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
