import { randomUUID } from "node:crypto";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { book, bookUri, greeting, itemText, page, pageUri, serverInfo } from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { contentsOf, promptOf, resultOf, tools } from "../definitions.mjs";
import { serveNode } from "../serve-node.mjs";

function makeServer() {
  const server = new McpServer(serverInfo);
  for (const { name, description, input, output, call } of tools) {
    const config = { description, inputSchema: input.shape, ...(output && { outputSchema: output.shape }) };
    server.registerTool(name, config, (args) => resultOf(call(args)));
  }
  server.registerPrompt("greet", { description: "Greets.", argsSchema: { name: z.string() } }, ({ name }) =>
    promptOf(greeting(name)),
  );
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
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
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
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request, response);
}

const answer = settings.mode === "session" ? answerInSession : answerAlone;
if (settings.way === "http") serveNode((request, response) => void answer(request, response));
else await makeServer().connect(new StdioServerTransport(undefined, undefined, { maxBufferSize }));
