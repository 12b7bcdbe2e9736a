import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { CreateMessageRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

export interface Listening {
  url: string;
  /** The requests that came, as `POST /sse`. */
  requests: string[];
  close: () => Promise<void>;
}

/** Serves node:http on a free port. */
export async function listenOn(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  path: string,
): Promise<Listening> {
  const requests: string[] = [];
  const http = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    handle(request, response);
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    requests,
    async close() {
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}

/** The official server (v1) over HTTP+SSE, configured like its examples. */
export function officialServer(): Promise<Listening> {
  const transports = new Map<string, SSEServerTransport>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      await makeServer().connect(transport);
      return;
    }
    const transport = transports.get(url.searchParams.get("sessionId") ?? "");
    if (request.method === "POST" && url.pathname === "/messages" && transport) {
      await transport.handlePostMessage(request, response);
      return;
    }
    response.writeHead(404).end(`Cannot ${request.method} ${url.pathname}`);
  };
  return listenOn((request, response) => void handle(request, response), "/sse");
}

function makeServer(): McpServer {
  const server = new McpServer({ name: "official", version: "1.0.0" });
  server.registerTool("count", { description: "Reports progress, then returns the last value." }, async (extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken === undefined) return { content: [] };
    for (let progress = 1; progress <= 5; progress++) {
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress } });
    }
    return { content: [{ type: "text", text: "five" }] };
  });
  server.registerTool("ask", { description: "Asks the client's model." }, async () => {
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Hello?" } }];
    const { content } = await server.server.createMessage({ messages, maxTokens: 10 });
    return { content: [{ type: "text", text: JSON.stringify(content) }] };
  });
  server.registerTool("grow", { description: "Adds a tool." }, () => {
    server.registerTool("grown", { description: "New." }, () => ({ content: [] }));
    return { content: [{ type: "text", text: "grown" }] };
  });
  return server;
}

/** The official client (v1) over HTTP+SSE. Calls `changed` when the list of tools has changed. */
export async function officialClient(url: string, changed: () => void = () => {}): Promise<Client> {
  const client = new Client({ name: "official", version: "1.0.0" }, { capabilities: { sampling: {} } });
  client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: "assistant" as const,
    model: "scripted",
    content: { type: "text" as const, text: "Hi." },
  }));
  await client.connect(new SSEClientTransport(new URL(url)));
  return client;
}
