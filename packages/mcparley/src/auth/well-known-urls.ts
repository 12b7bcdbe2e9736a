/** Returns the possible URLs of a resource's metadata: at its path, and at the root (2026-07-28, discovery). */
export function resourceMetadataUrls(resource: URL): URL[] {
  const root = new URL("/.well-known/oauth-protected-resource", resource.origin);
  const path = pathOf(resource);
  if (path === "" && resource.search === "") return [root];
  return [new URL(`${root.pathname}${path}${resource.search}`, resource.origin), root];
}

/** Returns the path without its last slash: an identifier has the same metadata with and without it (RFC 8414, 3.1). */
export function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/$/, "");
}
