import type { JsonObject } from "mcparley";
import type { InProcessServer } from "mcparley/client";
import { type RawConnection, rawServer, toolNamed } from "./raw-server.ts";

/** The kind of the input requests of `endlessRequests`. */
export type EndlessKind = "form" | "url" | "sampling" | "roots";

/** A server that counts the input requests that it has sent. */
export interface EndlessServer extends InProcessServer {
  readonly sent: number;
}

/**
 * Sends input requests without an end in each call of its tool `ask`, whatever the answer is: on a legacy connection one after
 * the other, and on a modern one as a new `input_required` result for each answer. It stops when the call is cancelled.
 *
 * `together` is the number of requests that are sent at the same time. Default: 1.
 */
export function endlessRequests(kind: EndlessKind, { together = 1 } = {}): EndlessServer {
  let sent = 0;
  const requests = (): InputRequest[] => Array.from({ length: together }, () => inputRequest(kind, ++sent));
  const server = rawServer({ name: `endless-${kind}` }, async ({ id, method }, connection) => {
    if (method === "tools/list") return { tools: [toolNamed("ask")] };
    if (method !== "tools/call") return undefined;
    if (connection.isLegacy) return askForever(requests, () => connection.cancelled.has(id), connection);
    const inputRequests = Object.fromEntries(requests().map((request) => [`request-${sent}-${request.key}`, request]));
    return { resultType: "input_required", inputRequests, requestState: String(sent) };
  });
  return {
    ...server,
    get sent() {
      return sent;
    },
  };
}

interface InputRequest {
  readonly key: number;
  readonly method: string;
  readonly params: JsonObject;
}

async function askForever(
  requests: () => InputRequest[],
  isCancelled: () => boolean,
  connection: RawConnection,
): Promise<undefined> {
  while (!isCancelled() && !connection.isClosed) {
    await Promise.all(requests().map(({ method, params }) => connection.ask(method, params)));
    // Lets the client send its cancellation.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function inputRequest(kind: EndlessKind, key: number): InputRequest {
  const message = `Question ${key}.`;
  const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
  const messages = [{ role: "user", content: { type: "text", text: message } }];
  const requests: Record<EndlessKind, { method: string; params: JsonObject }> = {
    form: { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
    url: {
      method: "elicitation/create",
      params: { mode: "url", message, url: `https://example.com/${key}`, elicitationId: `visit-${key}` },
    },
    sampling: { method: "sampling/createMessage", params: { messages, maxTokens: 1_000_000 } },
    roots: { method: "roots/list", params: {} },
  };
  return { key, ...requests[kind] };
}
