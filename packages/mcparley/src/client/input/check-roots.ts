import { LocalError } from "../../rpc/errors.ts";
import type { Root } from "../../mcp/roots.ts";

/**
 * Checks the roots that a host gives, before a server sees them: each is a `file:` URI, and none climbs out of what it
 * seems to name (client/roots, Security Considerations). Throws `invalid_result` for the first that is not fit.
 */
export function checkRoots(roots: readonly Root[]): readonly Root[] {
  if (!Array.isArray(roots)) throw unfit("must be an array of roots");
  for (const { uri } of roots as readonly { uri: unknown }[]) {
    const shown = JSON.stringify(String(uri).slice(0, 200));
    if (typeof uri !== "string" || !uri.startsWith("file://")) throw unfit(`must be file:// URIs; got ${shown}`);
    if (/[/\\](\.|%2e){1,2}([/\\]|$)/i.test(uri.replaceAll(/%2f/gi, "/").replaceAll(/%5c/gi, "\\"))) {
      throw unfit(`must not hold "." or ".." in their paths; got ${shown}`);
    }
  }
  return roots;
}

function unfit(why: string): LocalError {
  return new LocalError("invalid_result", `The roots that were given to connect ${why}.`);
}
