import { LocalError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import type { Principal } from "./context.ts";

/** The JSON of `everyScope`. */
const everyScopeMark = { every: true };

/** A list that includes every scope. It has no entries, because handlers can require any scope. */
const everyScope: readonly string[] = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.defineProperties([], {
    includes: { value: () => true },
    toJSON: { value: () => everyScopeMark },
  }),
);

/**
 * A principal with all scopes, for a server whose only caller is the user who started it:
 * `serveStdio(server, { principal: localUser })`.
 *
 * Its `scopes` are an empty list whose `includes` returns true for every scope. Pass a copy to name the user:
 * `{ ...localUser, subject: "ada" }`. A program that forwards the requests of others to such a server gives all of them
 * these rights.
 *
 * @example
 * ```ts
 * import { createServer, localUser, tool } from "mcparley/server";
 * import { serveStdio } from "mcparley/stdio";
 *
 * const remove = tool({ description: "Removes all notes.", scopes: ["notes:write"], call: () => "Removed." });
 * await serveStdio(createServer({ name: "notes", version: "1.0.0", tools: { remove } }), { principal: localUser });
 * ```
 */
export const localUser: Principal = /* @__PURE__ */ Object.freeze({
  issuer: "local",
  subject: "local",
  scopes: everyScope,
});

/** Returns a principal that was stored as JSON. */
export function revivePrincipal(principal: Principal): Principal {
  const { scopes } = principal as { scopes: unknown };
  return isObject(scopes) && scopes.every === true ? { ...principal, scopes: everyScope } : principal;
}

/** Throws `invalid_definition` if the value is no principal. */
export function checkPrincipal(principal: unknown): void {
  if (isObject(principal)) {
    const { issuer, subject, scopes } = principal;
    const isNamed = [issuer, subject].every((name) => typeof name === "string" && name !== "");
    if (isNamed && Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string")) return;
  }
  const form = '{ issuer: "local", subject: "ada", scopes: ["notes:read"] }, or localUser, which has all scopes';
  throw new LocalError("invalid_definition", `principal must be an object such as ${form}.`);
}
