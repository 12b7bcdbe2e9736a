import type { JsonObject } from "mcparley";
import type { InProcessServer } from "mcparley/client";
import { type RawConnection, rawServer, toolNamed } from "./raw-server.ts";

/** The notifications of a flood. */
export type Flood = "progress" | "logs" | "list_changed" | "updated" | "unknown";

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/**
 * Floods the client with notifications during each call of its tool `flood`, before the result. Default: 100,000.
 *
 * `list_changed` is sent without a change of the list. On a modern connection `list_changed` and `updated` belong to the open
 * subscription, if there is one.
 */
export function flood(kind: Flood, count = 100_000): InProcessServer {
  return rawServer({ name: `flood-of-${kind}` }, ({ method, params }, connection) => {
    if (method === "tools/list") return { tools: [toolNamed("flood")] };
    if (method === "resources/list") return { resources: [{ uri: "test://flooded", name: "flooded" }] };
    if (method !== "tools/call") return undefined;
    const progressToken = (params["_meta"] as JsonObject | undefined)?.["progressToken"];
    for (let sent = 1; sent <= count && !connection.isClosed; sent++) {
      connection.notify(...notification(kind, sent, { connection, progressToken }));
    }
    return { content: [{ type: "text", text: "done" }] };
  });
}

function notification(
  kind: Flood,
  sent: number,
  { connection, progressToken }: { connection: RawConnection; progressToken: unknown },
): [method: string, params: JsonObject] {
  const _meta = connection.listening === undefined ? {} : { [subscriptionId]: connection.listening };
  const notifications: Record<Flood, [method: string, params: JsonObject]> = {
    progress: ["notifications/progress", { progressToken, progress: sent, message: `Step ${sent}.` }],
    logs: ["notifications/message", { level: "error", logger: "flood", data: `Message ${sent}.` }],
    list_changed: ["notifications/tools/list_changed", { _meta }],
    updated: ["notifications/resources/updated", { uri: "test://flooded", _meta }],
    unknown: ["example/unknown", { sent }],
  };
  return notifications[kind];
}
