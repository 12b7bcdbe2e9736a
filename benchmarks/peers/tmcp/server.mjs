import { createRequestListener } from "@remix-run/node-fetch-server";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { z } from "zod";
import { book, bookUri, greeting, itemText, page, pageUri, serverInfo } from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { contentsOf, promptOf, resultOf, tools } from "../definitions.mjs";
import { serveNode } from "../serve-node.mjs";

const server = new McpServer(serverInfo, {
  adapter: new ZodJsonSchemaAdapter(),
  capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } },
});
for (const { name, description, input, output, call } of tools) {
  const definition = { name, description, schema: input, ...(output && { outputSchema: output }) };
  server.tool(definition, (args) => resultOf(call(args)));
}
if (settings.hasChange) {
  server.tool({ name: "change", description: "Changes the page." }, () => {
    server.changed("resource", pageUri);
    return resultOf("changed");
  });
}
server.prompt({ name: "greet", description: "Greets.", schema: z.object({ name: z.string() }) }, ({ name }) =>
  promptOf(greeting(name)),
);
const plain = { description: "A text.", mimeType: "text/plain" };
server.resource({ name: "page", uri: pageUri, ...plain }, (uri) => contentsOf(uri, page));
server.resource({ name: "book", uri: bookUri, ...plain }, (uri) => contentsOf(uri, book()));
server.template({ name: "item", uri: "bench://items/{id}", ...plain }, (uri, { id }) => contentsOf(uri, itemText(id)));

if (settings.way === "http") {
  const transport = new HttpTransport(server, { path: "/mcp" });
  const answer = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 });
  serveNode(createRequestListener(answer));
} else new StdioTransport(server).listen();
