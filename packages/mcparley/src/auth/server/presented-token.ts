import type { RequestHead } from "../../http/exchange.ts";

/** How a token was shown: alone, or with a proof that its key is at hand (RFC 9449). */
export type Scheme = "Bearer" | "DPoP";

export interface PresentedToken {
  readonly scheme: Scheme;
  readonly token: string;
}

/** What a request shows is no way to show a token. Its message is sent to the client. */
export class BadPresentation extends Error {
  override readonly name: string = "BadPresentation";
}

/** Characters of a token; larger ones are not looked at. */
const maxToken = 16_384;

/**
 * Reads the token of a request: from its `Authorization` header and nowhere else (2026-07-28, authorization, Token
 * Requirements). Undefined where there is none, or credentials of another kind.
 *
 * Throws `BadPresentation` for a token in the query, where logs and histories keep it, and for what is no token.
 */
export function readPresented(request: RequestHead): PresentedToken | undefined {
  if (/(?:^|&)access_token=/i.test(request.query)) {
    throw new BadPresentation("A token in a URL is kept by logs: send it in the Authorization header.");
  }
  const given = request.header("authorization");
  const match = given === undefined ? null : /^(Bearer|DPoP)(?: +(.*))?$/i.exec(given);
  if (!match) return undefined;
  const [, scheme = "", token = ""] = match;
  if (token.length > maxToken || !/^[\w.~+/-]+=*$/.test(token)) {
    throw new BadPresentation("The Authorization header must hold one token after its scheme.");
  }
  return { scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
}
