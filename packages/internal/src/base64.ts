/** Returns whether a text is base64 with its padding. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && isLooseBase64(text);
}

/**
 * Returns whether a text is base64, of which the padding may be missing.
 *
 * It searches the first character that is no digit of base64. The search never returns to an earlier character of a long text.
 */
export function isLooseBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/]/);
  return end === -1 || /^={1,2}$/.test(text.slice(end));
}
