/** Decodes percent-encoded text. Returns undefined if it is not valid UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
