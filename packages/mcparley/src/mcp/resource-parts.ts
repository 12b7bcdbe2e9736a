/**
 * Returns whether a resource is another one or a part of it, by their URIs: the rest of the URI begins with `/`, `?` or `#`.
 * So `note://10` is no part of `note://1`.
 */
export function isWithin(uri: unknown, whole: unknown): boolean {
  if (typeof uri !== "string" || typeof whole !== "string" || !uri.startsWith(whole)) return false;
  return uri.length === whole.length || "/?#".includes(uri.charAt(whole.length)) || whole.endsWith("/");
}
