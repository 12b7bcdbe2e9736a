import { randomUUID } from "node:crypto";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

function makeServer() {
  const server = new McpServer({ name: "features", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: { text: z.string() } }, (args) => text(args.text));
  server.registerTool("fail", {}, () => {
    throw new Error("postgres://user:secret@host");
  });
  const outputSchema = { sum: z.number() };
  server.registerTool("wrong", { outputSchema }, () => ({ content: [], structuredContent: { sum: "three" } }));
  server.registerTool("ask", {}, async () => {
    const { content } = await server.server.elicitInput({
      message: "Who are you?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return text(`Hello ${content.name}`);
  });
  return server;
}

const sessions = new Map();
const app = createMcpExpressApp();
app.all("/mcp", async (request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known) return known.handleRequest(request, response, request.body);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request, response, request.body);
});
const http = app.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
