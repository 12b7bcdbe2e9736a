import { getRequestListener } from "@hono/node-server";
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { book, bookUri, greeting, itemText, page, pageUri, serverInfo } from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { contentsOf, promptOf, resultOf, tools } from "../definitions.mjs";
import { serveNode } from "../serve-node.mjs";
import { serveLines } from "./serve-lines.mjs";

const server = new McpServer({ ...serverInfo, schemaAdapter: (schema) => z.toJSONSchema(schema) });
for (const { name, description, input, output, call } of tools) {
  const config = { description, inputSchema: input, ...(output && { outputSchema: output }) };
  server.tool(name, { ...config, handler: (args) => resultOf(call(args)) });
}
server.prompt("greet", {
  description: "Greets.",
  arguments: z.object({ name: z.string() }),
  handler: ({ name }) => promptOf(greeting(name)),
});
server.resource(pageUri, { name: "page", mimeType: "text/plain" }, () => contentsOf(pageUri, page));
server.resource(bookUri, { name: "book", mimeType: "text/plain" }, () => contentsOf(bookUri, book()));
server.resource("bench://items/{id}", { name: "item", mimeType: "text/plain" }, ({ href }, { id }) =>
  contentsOf(href, itemText(id)),
);

if (settings.way === "http") {
  const sessionAdapter = new InMemorySessionAdapter({ maxEventBufferSize: 1024 });
  const transport = new StreamableHttpTransport(settings.mode === "session" ? { sessionAdapter } : {});
  serveNode(getRequestListener(transport.bind(server)));
} else await serveLines(server);
