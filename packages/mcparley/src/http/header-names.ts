/*
 * The HTTP headers that MCP defines or depends on, in lower case. node:http delivers lower-case names, and `Headers`
 * accepts any case.
 */
export const PROTOCOL_VERSION_HEADER = "mcp-protocol-version";
export const SESSION_ID_HEADER = "mcp-session-id";
export const METHOD_HEADER = "mcp-method";
export const NAME_HEADER = "mcp-name";
/** The prefix of the headers that mirror a tool's arguments. */
export const PARAM_HEADER_PREFIX = "mcp-param-";
export const LAST_EVENT_ID_HEADER = "last-event-id";
/** Turns response buffering off in nginx and similar reverse proxies if its value is `no`. */
export const ACCEL_BUFFERING_HEADER = "x-accel-buffering";
