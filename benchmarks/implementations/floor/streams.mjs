// @ts-check
import { pageUri } from "../../content.mjs";

/** @typedef {import("node:http").ServerResponse} ServerResponse */

/** The open streams, each with the bytes of its change notification. @type {Map<ServerResponse, string>} */
const streams = new Map();

/** Opens a stream of changes. @param {ServerResponse} response @param {number} id */
export function listen(response, id) {
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  const notifications = { resourceSubscriptions: [pageUri] };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(eventOf("notifications/subscriptions/acknowledged", { _meta, notifications }));
  streams.set(response, eventOf("notifications/resources/updated", { _meta, uri: pageUri }));
  response.on("close", () => streams.delete(response));
}

/** Writes the prepared change notification to each stream. */
export function changed() {
  for (const [response, event] of streams) response.write(event);
}

/** @param {string} method @param {object} params */
function eventOf(method, params) {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`;
}
