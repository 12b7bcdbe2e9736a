import { createServer } from "node:net";
import { FastMCP } from "fastmcp";
import { book, bookUri, greeting, itemText, page, pageUri, serverInfo } from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { resultOf, tools } from "../definitions.mjs";

const server = new FastMCP({ ...serverInfo, logger: silent() });
for (const { name, description, input, output, call } of tools) {
  const definition = { name, description, parameters: input, ...(output && { outputSchema: output }) };
  server.addTool({ ...definition, execute: async (args) => resultOf(call(args)) });
}
server.addPrompt({
  name: "greet",
  description: "Greets.",
  arguments: [{ name: "name", required: true }],
  load: async ({ name }) => greeting(name),
});
const mimeType = "text/plain";
server.addResource({ uri: pageUri, name: "page", mimeType, load: async () => ({ text: page }) });
server.addResource({ uri: bookUri, name: "book", mimeType, load: async () => ({ text: book() }) });
server.addResourceTemplate({
  uriTemplate: "bench://items/{id}",
  name: "item",
  mimeType,
  arguments: [{ name: "id", required: true }],
  load: async ({ id }) => ({ text: itemText(id) }),
});

if (settings.way === "http") {
  const port = await freePort();
  await server.start({
    transportType: "httpStream",
    httpStream: {
      port,
      host: "127.0.0.1",
      stateless: settings.mode === "stateless",
      enableJsonResponse: settings.answers === "json",
    },
  });
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
} else await server.start({ transportType: "stdio" });

function silent() {
  return { debug() {}, error() {}, info() {}, log() {}, warn() {} };
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
