/** The extensions that MCP defines (specification, Extensions). Only their ids may have a prefix that MCP reserves. */
const official = /\/(tasks|ui|skills|oauth-client-credentials|enterprise-managed-authorization)$/;
/** A prefix whose second label is one of MCP's names (2026-07-28, basic, `_meta`). */
const reservedPrefix = /^[^./]+\.(modelcontextprotocol|mcp)[./]/i;

/** Throws a TypeError if the id of an extension has a prefix that MCP reserves, and MCP does not define the extension. */
export function checkReservedId(id: string): void {
  if (!reservedPrefix.test(id) || (id.startsWith("io.modelcontextprotocol/") && official.test(id))) return;
  throw new TypeError(
    `MCP reserves the prefix of the extension ${JSON.stringify(id)}. Use a domain that you own, in reverse, such as "com.example/feature".`,
  );
}
