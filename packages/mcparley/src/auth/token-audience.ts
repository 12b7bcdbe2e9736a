import { decodeJwt } from "jose";

/**
 * Returns the reason not to use a token that an issuer has issued for the recipients: its audience names none of them. Undefined if
 * it names one, and for a token that is not a JWT, whose audience is unknown.
 *
 * The signature is not verified, because the token was received from its issuer.
 */
export function wrongAudience(token: string, recipients: readonly string[]): string | undefined {
  let audiences: readonly unknown[];
  try {
    audiences = [decodeJwt(token).aud ?? []].flat();
  } catch {
    return undefined;
  }
  const acceptedAudiences = new Set(audiences.map((audience) => comparable(String(audience))));
  if (recipients.some((recipient) => acceptedAudiences.has(comparable(recipient)))) return undefined;
  const audience = audiences.length === 0 ? "no audience" : `the audience ${quotedList(audiences)}`;
  return `the issued token has ${audience}, but it was requested for ${quotedList(recipients)}`;
}

/** Returns an identifier for a comparison. A final slash and the case of the host make no difference in a URL. */
function comparable(identifier: string): string {
  return URL.canParse(identifier) ? new URL(identifier).href.replace(/\/$/, "") : identifier;
}

function quotedList(names: readonly unknown[]): string {
  return JSON.stringify(names).slice(1, -1).slice(0, 300);
}
