import { randomUUID } from "node:crypto";
import { createMcpExpressApp } from "@modelcontextprotocol/express";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

function makeServer() {
  const server = new McpServer({ name: "features", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, (args) => text(args.text));
  server.registerTool("fail", {}, () => {
    throw new Error("postgres://user:secret@host");
  });
  const outputSchema = z.object({ sum: z.number() });
  server.registerTool("wrong", { outputSchema }, () => ({ content: [], structuredContent: { sum: "three" } }));
  const requestedSchema = z.object({ name: z.string() });
  server.registerTool("ask", {}, (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, "name", requestedSchema);
    if (answer) return text(`Hello ${answer.name}`);
    const question = inputRequired.elicit({ message: "Who are you?", requestedSchema });
    return inputRequired({ inputRequests: { name: question } });
  });
  return server;
}

// Without sessions of its own, a server cannot ask clients of legacy revisions.
const sessions = new Map();
async function openSession(request, response) {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request, response, request.body);
}

const modern = toNodeHandler(createMcpHandler(makeServer));
const app = createMcpExpressApp();
app.all("/mcp", (request, response) => {
  const session = sessions.get(request.headers["mcp-session-id"]);
  if (session) return void session.handleRequest(request, response, request.body);
  if (request.body?.method === "initialize") return void openSession(request, response);
  return void modern(request, response, request.body);
});
const http = app.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
