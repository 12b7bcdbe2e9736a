import type { JsonObject } from "mcparley";
import type { InProcessServer } from "mcparley/client";
import { rawServer, toolNamed } from "./raw-server.ts";

/** The part of a result that is large. */
export type LargePart = "text" | "base64" | "structured";

/**
 * Returns a large result from its tool `large`. Default: 100 MB. In this process no limit of a transport applies; the program
 * `stdio-server.mjs` sends the same results through a pipe.
 */
export function largeResult(part: LargePart, bytes = 100_000_000): InProcessServer {
  return rawServer({ name: `large-${part}` }, ({ method }) => {
    if (method === "tools/list") return { tools: [toolNamed("large")] };
    return method === "tools/call" ? contentOf(part, bytes) : undefined;
  });
}

function contentOf(part: LargePart, bytes: number): JsonObject {
  if (part === "text") return { content: [{ type: "text", text: "x".repeat(bytes) }] };
  if (part === "base64") return { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(bytes) }] };
  const row = "x".repeat(1_000);
  return { content: [], structuredContent: { rows: Array.from({ length: bytes / 1_000 }, () => row) } };
}

/** Never answers a request for `method`. Default: `tools/call`. It answers all others. */
export function hanging(method = "tools/call"): InProcessServer {
  const lists: Record<string, JsonObject> = {
    "tools/list": { tools: [toolNamed("hang")] },
    "tools/call": { content: [] },
  };
  return rawServer({ name: "hanging" }, (request) =>
    request.method === method ? new Promise(() => {}) : lists[request.method],
  );
}
