import type { HttpRequestHead } from "../../http/exchange.ts";
import { HttpRefusal } from "../../http/server/refusal.ts";
import type { HttpServerAuth } from "../../http/server/options.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Principal } from "../../server/core/context.ts";
import { maxToken, readPresented } from "./authorization-headers.ts";
import { invalid } from "./option-checks.ts";
import { InvalidToken } from "./verified-token.ts";

/** The owner of a token. The default of `issuer` is `"bearer"`, and that of `scopes` is an empty list. */
export type BearerCaller = Pick<Principal, "subject"> & Partial<Principal>;

/**
 * Verifies a token. Returns its owner, or undefined for an invalid token. It may throw `InvalidToken`, whose message is sent
 * to the client. Any other error is reported and answered with 500. Compare secrets in constant time.
 */
export type VerifyBearer = (token: string, request: HttpRequestHead) => Awaitable<BearerCaller | undefined>;

/** Options of `bearer`. */
export interface BearerOptions {
  /** Name of a header in which clients may send the token instead of `Authorization`, such as `x-api-key`. Default: none. */
  header?: string;
}

/**
 * Protects an endpoint with tokens that a function verifies: `listen(server, { auth: bearer(verify) })`. It needs no OAuth.
 *
 * A request without a valid token in `Authorization: Bearer` is answered with 401. `ctx.principal` is the owner of the token.
 *
 * @example
 * ```ts
 * import { bearer } from "mcparley/auth";
 * import { listen } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * declare const sessions: Map<string, { user: string }>;
 *
 * const auth = bearer((token) => {
 *   const session = sessions.get(token);
 *   return session && { subject: session.user, scopes: ["notes:read"] };
 * });
 * await listen(createServer({ name: "notes", version: "1.0.0" }), { port: 3000, auth });
 * ```
 */
export function bearer(verify: VerifyBearer, { header }: BearerOptions = {}): HttpServerAuth {
  if (typeof verify !== "function") throw invalid("bearer requires a function that verifies a token.");
  const name = header?.toLowerCase();
  return {
    match(request) {
      const presentedToken = readPresented(request);
      if (presentedToken) return presentedToken.scheme === "Bearer" ? "possible" : undefined;
      return name !== undefined && request.header(name) ? "certain" : undefined;
    },
    async authenticate(request) {
      const token = readToken(request, name);
      if (token === undefined) {
        const alternative = name === undefined ? "" : `, or alone in the ${name} header`;
        // Log filters remove the text after "Authorization:" and "Bearer", so neither is followed by a value here.
        const place = 'Send it in the Authorization header, after "Bearer" and a space';
        throw makeRefusal(401, `A token is required. ${place}${alternative}.`);
      }
      let caller: BearerCaller | undefined;
      try {
        caller = await verify(token, request);
      } catch (error) {
        if (error instanceof InvalidToken)
          throw makeRefusal(401, error.message, { error: "invalid_token", cause: error.cause });
        throw error;
      }
      if (!caller) throw makeRefusal(401, "The token is not valid.", { error: "invalid_token" });
      return { issuer: "bearer", scopes: [], ...caller };
    },
  };
}

function readToken(request: HttpRequestHead, name: string | undefined): string | undefined {
  const presentedToken = readPresented(request);
  if (presentedToken?.problem !== undefined)
    throw makeRefusal(400, presentedToken.problem, { error: "invalid_request" });
  if (presentedToken?.scheme === "Bearer") return presentedToken.token;
  const headerValue = name === undefined ? undefined : request.header(name);
  if (headerValue === undefined || headerValue === "") return undefined;
  if (headerValue.length <= maxToken) return headerValue;
  throw makeRefusal(400, `The ${name} header has more than ${maxToken} characters.`, { error: "invalid_request" });
}

/** Makes a refusal with the challenge of RFC 6750, section 3. */
function makeRefusal(
  status: number,
  message: string,
  { error, cause }: { error?: string; cause?: unknown } = {},
): HttpRefusal {
  const challenge = error === undefined ? "Bearer" : `Bearer error="${error}"`;
  return new HttpRefusal(status, message, { headers: { "www-authenticate": challenge }, cause });
}
