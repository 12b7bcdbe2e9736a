/**
 * Whether a URI names a resource or a part of it: it is equal, or continues after a `/`, `?` or `#`. An update of a
 * sub-resource concerns the subscribers of the whole (2025-11-25, server/resources).
 */
export function isPartOf(uri: string, whole: string): boolean {
  if (!uri.startsWith(whole)) return false;
  return uri.length === whole.length || /[/?#]$/.test(whole) || /^[/?#]/.test(uri.slice(whole.length));
}
