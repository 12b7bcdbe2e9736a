import { cutText } from "./text-size.ts";

/**
 * Replaces the secrets that the host knows in a text: values of environment variables, values of headers, and tokens. It is
 * applied to each text of a server before the model, an event or a log receives it.
 */
export type HideSecrets = (text: string) => string;

/** Number of characters that a known secret has at most. */
const MAX_SECRET_LENGTH = 16 * 1024;

/**
 * Returns the start of a text with its secrets hidden. It has at most `maxLength` characters.
 *
 * Secrets are hidden before the text is cut, so that no part of a secret remains at the end. Only the start and a reserve are searched,
 * because the text can have any length.
 */
export function hideInStart(text: string, maxLength: number, hideSecrets: HideSecrets): string {
  const searched = maxLength + MAX_SECRET_LENGTH;
  if (text.length <= searched) return cutText(hideSecrets(text), maxLength);
  const hiddenText = hideSecrets(text.slice(0, searched));
  // The reserve is removed, because a secret at its end was cut in half and not found.
  return cutText(hiddenText, Math.max(0, Math.min(maxLength, hiddenText.length - MAX_SECRET_LENGTH)));
}
