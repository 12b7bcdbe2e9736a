/** Schemes that mean something to clients already: a folder of that name is served under another. */
const taken = new Set(
  "http https ws wss ftp file data blob about javascript mailto urn ui git ssh vscode mcp skill resource".split(" "),
);

/** The URI scheme of a server's resources: its name, as far as a scheme can say it (RFC 3986, 3.1). */
export function schemeOf(serverName: string): string {
  const slug = serverName
    .toLowerCase()
    .replaceAll(/[^a-z0-9+.-]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "");
  if (slug === "") return "folder";
  return taken.has(slug) ? `${slug}-folder` : slug;
}

/**
 * The URI of a file: `handbook://resources/on%20call.md`.
 *
 * The root stands where an authority does: it is lower case and never empty, so that the URI comes back unchanged from
 * clients that normalise it, and it says nothing of where the folder is on this machine.
 */
export function uriOf(scheme: string, root: string, path: string): string {
  return `${scheme}://${root}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The template that all files of a root match. */
export function templateOf(scheme: string, root: string): string {
  return `${scheme}://${root}/{+path}`;
}
