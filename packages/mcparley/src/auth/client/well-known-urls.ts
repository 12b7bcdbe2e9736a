/** The path without a slash at its end: an identifier has the same documents with and without it (RFC 8414, 3.1). */
function bare({ pathname }: URL): string {
  return pathname.replace(/\/$/, "");
}

/** Where the metadata of a resource may be: at its path, and at the root (2026-07-28, authorization server discovery). */
export function resourceMetadataUrls(resource: URL): URL[] {
  const root = new URL("/.well-known/oauth-protected-resource", resource.origin);
  const path = bare(resource);
  if (path === "" && resource.search === "") return [root];
  return [new URL(`${root.pathname}${path}${resource.search}`, resource.origin), root];
}

/** Where the metadata of an authorization server may be, in the order of the specification. */
export function issuerMetadataUrls(issuer: URL): URL[] {
  const path = bare(issuer);
  const inserted = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  const paths = path === "" ? inserted : [...inserted, `${path}/.well-known/openid-configuration`];
  return paths.map((pathname) => new URL(pathname, issuer.origin));
}
