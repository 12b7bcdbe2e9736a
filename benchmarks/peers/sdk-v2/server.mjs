import { randomUUID } from "node:crypto";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, ResourceTemplate, createMcpHandler } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { book, bookUri, greeting, itemText, page, pageUri, serverInfo } from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { contentsOf, promptOf, resultOf, tools } from "../definitions.mjs";
import { serveNode } from "../serve-node.mjs";

function makeServer() {
  const server = new McpServer(serverInfo, { capabilities: { resources: { subscribe: true } } });
  for (const { name, description, input, output, call } of tools) {
    const config = { description, inputSchema: input, ...(output && { outputSchema: output }) };
    server.registerTool(name, config, (args) => resultOf(call(args)));
  }
  if (settings.hasChange) {
    server.registerTool("change", { inputSchema: z.object({}) }, () => {
      modern.notify.resourceUpdated(pageUri);
      return resultOf("changed");
    });
  }
  const argsSchema = z.object({ name: z.string() });
  server.registerPrompt("greet", { description: "Greets.", argsSchema }, ({ name }) => promptOf(greeting(name)));
  const plain = { mimeType: "text/plain" };
  server.registerResource("page", pageUri, plain, () => contentsOf(pageUri, page));
  server.registerResource("book", bookUri, plain, () => contentsOf(bookUri, book()));
  const template = new ResourceTemplate("bench://items/{id}", { list: undefined });
  server.registerResource("item", template, plain, ({ href }, { id }) => contentsOf(href, itemText(id)));
  return server;
}

/** The default limit is 10 MiB, and one message of the benchmarks is slightly longer. */
const maxBufferSize = 16 * 1024 * 1024;
const enableJsonResponse = settings.answers === "json";
const sessions = new Map();

/** Each request has a server and a transport, as the package's documentation recommends. */
async function answerAlone(request, response) {
  const server = makeServer();
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
  response.on("close", () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

async function answerInSession(request, response) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known) return known.handleRequest(request, response);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request, response);
}

const modern = createMcpHandler(makeServer, { legacy: "reject", responseMode: settings.answers });

function listenerOf(mode) {
  if (mode === "modern") return toNodeHandler(modern);
  const answer = mode === "session" ? answerInSession : answerAlone;
  return (request, response) => void answer(request, response);
}

if (settings.way === "http") serveNode(listenerOf(settings.mode));
else serveStdio(makeServer, { transport: new StdioServerTransport(undefined, undefined, { maxBufferSize }) });
