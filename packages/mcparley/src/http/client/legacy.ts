/* The transports of legacy revisions. They are loaded as a whole. */
export { openHttpSse } from "./http-sse.ts";
export { LegacySession } from "./legacy-session.ts";
