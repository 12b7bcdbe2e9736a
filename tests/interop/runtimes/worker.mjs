import { toFetch } from "mcparley/http";
import { server } from "../matrix/peers/mcparley/features.mjs";

/**
 * A Worker that serves each request by itself. workerd detects a disconnected client with the next write, which is the
 * keep-alive at the latest.
 */
export default toFetch(server, { path: "/mcp", sessions: false, keepAlive: 1_000 });
