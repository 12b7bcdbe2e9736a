import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { InvalidToken, type ScopesOf, type VerifiedToken } from "./verified-token.ts";

/* Reads the claims of tokens. Members that are unknown, null or empty equal omitted ones. */

/**
 * Converts claims, which the caller has verified together with the issuer.
 *
 * Without a subject, the subject is the client, as in tokens that a client requested for itself (RFC 9068, 2.2). Throws
 * `InvalidToken` if there is neither, and if the token is bound by a method that is not supported.
 */
export function tokenOf(issuer: string, claims: JsonObject, scopesOf: ScopesOf = scopesIn): VerifiedToken {
  const { sub, client_id, azp, exp } = claims;
  const clientId = textOf(client_id) ?? textOf(azp);
  const subject = textOf(sub) ?? textOf(client_id);
  if (subject === undefined) throw new InvalidToken("The token has no subject.");
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

/** Returns the audiences in the claims of a token. */
export function audienceIn({ aud }: JsonObject): readonly string[] {
  return textsIn(aud);
}

/** Reads `scope`, separated by spaces (RFC 9068, RFC 7662), or the `scp` of some authorization servers. Both may be lists. */
function scopesIn({ scope, scp }: JsonObject): readonly string[] {
  const [scopes, otherScopes] = [scope, scp].map((value) =>
    textsIn(value).flatMap((text) => text.match(/[^ ]+/g) ?? []),
  );
  return scopes?.length ? scopes : (otherScopes ?? []);
}

/** Returns a text, or the texts in a list. */
function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((one) => typeof one === "string");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The members of `cnf` that name a key, except `jkt` (RFC 7800, 3; IANA registry "JWT Confirmation Methods"). */
const otherBindings = ["jwk", "jwe", "kid", "jku", "x5t#S256", "osc"];

/**
 * Returns the thumbprint of the key to which a token is bound (RFC 9449, 6.1). Unknown members of `cnf` are ignored (RFC 7800,
 * 3.1). Throws `InvalidToken` for a binding that is not checked.
 */
function thumbprintIn({ cnf }: JsonObject): string | undefined {
  const members = cnf ?? {};
  if (!isObject(members)) throw new InvalidToken('The "cnf" of the token is no object.');
  const otherBinding = otherBindings.find((name) => (members[name] ?? null) !== null);
  if (otherBinding !== undefined)
    throw new InvalidToken(`The token is bound by a method that this server does not support: "${otherBinding}".`);
  const jkt = textOf(members.jkt);
  if (jkt === undefined && (members.jkt ?? null) !== null)
    throw new InvalidToken('The "jkt" of the token is no thumbprint.');
  return jkt;
}

/** Checks issuer, audience and lifetime again, because a custom verifier may omit it. `now` is in seconds. */
export function checkClaims(
  { issuer, audience, expiresAt }: VerifiedToken,
  { issuers, audiences, now }: { issuers: readonly string[]; audiences: readonly string[]; now: number },
): void {
  if (!issuers.includes(issuer)) throw new InvalidToken("The issuer of the token is not accepted.");
  if (!audience.some((one) => audiences.includes(one))) throw new InvalidToken("The token is for another audience.");
  // 300 seconds is the maximum clock difference that a verifier accepts.
  if (expiresAt !== undefined && expiresAt + 300 <= now) throw new InvalidToken("The token has expired.");
}

/** A date in a token or a proof, because of which the token or the proof is refused. */
interface RefusedDate {
  /** The claim, such as `exp`. */
  claim: string;
  /** Seconds since 1970. */
  date: unknown;
  /** Seconds since 1970. */
  now: number;
  /** What contains the claim, such as "a DPoP proof". */
  subject: string;
  /** The `iat` of an expired token. Seconds since 1970. */
  issuedAt?: unknown;
}

/**
 * Returns an error for the operator that states by how much a date is wrong. Undefined if the clocks are not a likely cause: for a
 * date that is over by five minutes or more, and for an expired token that was not issued within the last minute.
 */
export function clockDifference({ claim, date, now, subject, issuedAt }: RefusedDate): LocalError | undefined {
  if (typeof date !== "number" || now - date >= 300) return undefined;
  if (claim === "exp" && !(typeof issuedAt === "number" && now - issuedAt < 60)) return undefined;
  const difference = `${Math.round(Math.abs(date - now))} s in the ${date > now ? "future" : "past"}`;
  const fact = `The "${claim}" of ${subject} is ${difference} by the clock of this server, so it was refused.`;
  return new LocalError("unauthorized", `${fact} If this is unexpected, compare the clocks of the two machines.`);
}
