/*
 * The HTTP headers MCP defines or depends on, in lower case: node:http delivers names so, and `Headers` accepts any
 * case.
 */
export const PROTOCOL_VERSION_HEADER = "mcp-protocol-version";
export const SESSION_ID_HEADER = "mcp-session-id";
export const METHOD_HEADER = "mcp-method";
export const NAME_HEADER = "mcp-name";
/** What the name of a header that mirrors a tool's argument begins with. */
export const PARAM_HEADER_PREFIX = "mcp-param-";
export const LAST_EVENT_ID_HEADER = "last-event-id";
/** Tells reverse proxies not to hold back the chunks of a stream. */
export const ACCEL_BUFFERING_HEADER = "x-accel-buffering";
