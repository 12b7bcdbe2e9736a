import type { JsonObject } from "../../rpc/messages.ts";
import { isObject } from "../../rpc/messages.ts";
import { InvalidToken, type VerifiedToken } from "./verified-token.ts";

/** How scopes are read from the claims of a token, where they are not where they usually are. */
export type ScopesOf = (claims: JsonObject) => readonly string[];

/** `scope`, separated by spaces (RFC 9068, RFC 7662); or `scp`, as some authorization servers say it. */
export function scopesIn({ scope, scp }: JsonObject): readonly string[] {
  const given = scope ?? scp;
  if (typeof given === "string") return given.split(" ").filter((one) => one !== "");
  return Array.isArray(given) ? given.filter((one): one is string => typeof one === "string") : [];
}

export function audienceIn({ aud }: JsonObject): readonly string[] {
  if (typeof aud === "string") return [aud];
  return Array.isArray(aud) ? aud.filter((one): one is string => typeof one === "string") : [];
}

/**
 * Makes of claims what a token says. The caller has verified them, and the issuer.
 *
 * The subject of a token that a client got for itself is the client, where no other is named (RFC 9068, 2.2). Throws
 * `InvalidToken` where nobody is named, and where the token is bound to something that is not checked here.
 */
export function tokenOf(issuer: string, claims: JsonObject, scopesOf: ScopesOf = scopesIn): VerifiedToken {
  const { sub, client_id, azp, exp } = claims;
  const clientId = textOf(client_id) ?? textOf(azp);
  const subject = textOf(sub) ?? textOf(client_id);
  if (subject === undefined) throw new InvalidToken("The token names no subject.");
  const jkt = thumbprintIn(claims);
  return {
    issuer,
    subject,
    audience: audienceIn(claims),
    scopes: scopesOf(claims),
    claims,
    ...(clientId !== undefined && { clientId }),
    ...(typeof exp === "number" && { expiresAt: exp }),
    ...(jkt !== undefined && { jkt }),
  };
}

function thumbprintIn({ cnf }: JsonObject): string | undefined {
  if (cnf === undefined) return undefined;
  if (isObject(cnf) && Object.keys(cnf).length === 1 && typeof cnf.jkt === "string") return cnf.jkt;
  throw new InvalidToken("The token is bound to its client in a way that is not checked here.");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
