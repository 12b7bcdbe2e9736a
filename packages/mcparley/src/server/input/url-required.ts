import { ErrorCode } from "../../mcp/errors.ts";
import { findUnsafe } from "../../mcp/checks/safe-url.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";

/** A URL that a user must visit before a call can continue. */
export interface UrlVisit {
  /** The reason to visit the page, for the user. */
  message: string;
  /** The URL of the page: https, or http on a loopback address, without a user name or password. It must not contain a secret. */
  url: string;
  /** Identifies the visit in `server.elicitationComplete`. 1 to 256 characters that no other visit has. Default: a random id. */
  elicitationId?: string;
}

/** Maximum number of visits in one error. */
const maxVisits = 100;
const maxIdLength = 256;

/**
 * Returns the error -32042: the user must visit URLs before the call can be repeated (2025-11-25, client/elicitation). Throw
 * it in a handler, and call `server.elicitationComplete` with the id of each visit when the visit is complete.
 *
 * Only 2025-11-25 has this error. Clients of other revisions, and clients that cannot send their user to a URL, get -32600
 * with the same message. `ctx.elicit({ message, url })` works on every revision that has visits. Throws `TypeError` if a
 * visit is invalid.
 *
 * @example
 * ```ts
 * import { tool, urlRequired } from "mcparley/server";
 *
 * const linked = new Set<string>();
 * const balance = tool({
 *   description: "Returns the balance of the linked account.",
 *   call: (_, { principal }) => {
 *     if (principal && linked.has(principal.subject)) return "12 EUR";
 *     throw urlRequired({ message: "Link your account.", url: "https://bank.example/link" });
 *   },
 * });
 * ```
 */
export function urlRequired(
  visits: UrlVisit | readonly UrlVisit[],
  message = "This request requires the user to visit a URL first.",
): ProtocolError {
  const elicitations = [visits].flat().map((visit) => ({
    mode: "url",
    elicitationId: crypto.randomUUID(),
    ...visit,
  }));
  const wrong = findWrongVisit(elicitations);
  if (wrong !== undefined) throw new TypeError(`urlRequired: ${wrong}`);
  return new ProtocolError(ErrorCode.UrlElicitationRequired, message, { data: { elicitations } });
}

/** Returns why the list of an error -32042 is invalid: it must hold URL elicitations alone, each with a different id. */
export function findWrongVisit(visits: unknown): string | undefined {
  if (!Array.isArray(visits) || visits.length === 0 || visits.length > maxVisits) {
    return `data.elicitations must be a list of 1 to ${maxVisits} visits`;
  }
  const ids = new Set<unknown>();
  for (const visit of visits) {
    if (!isObject(visit) || visit.mode !== "url") return 'each visit must have the mode "url"';
    const { message, url, elicitationId } = visit;
    if (typeof message !== "string") return "each visit must have a message";
    const wrong = findUnsafe(url) ?? findWrongId(elicitationId);
    if (wrong !== undefined) return wrong;
    ids.add(elicitationId);
  }
  return ids.size === visits.length ? undefined : "two visits have the same elicitationId";
}

/** Returns why a value cannot be the id of a visit. */
export function findWrongId(id: unknown): string | undefined {
  const isId = typeof id === "string" && id !== "" && id.length <= maxIdLength;
  return isId ? undefined : `elicitationId must be a string of 1 to ${maxIdLength} characters`;
}
