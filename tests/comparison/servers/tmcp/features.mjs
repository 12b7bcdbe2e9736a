import { createServer } from "node:http";
import { createRequestListener } from "@remix-run/node-fetch-server";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { McpServer } from "tmcp";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

const server = new McpServer(
  { name: "features", version: "1.0.0" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {}, elicitation: {} } },
);
const description = "A tool.";
server.tool({ name: "echo", description, schema: z.object({ text: z.string() }) }, (args) => text(args.text));
server.tool({ name: "fail", description }, () => {
  throw new Error("postgres://user:secret@host");
});
const outputSchema = z.object({ sum: z.number() });
server.tool({ name: "wrong", description, outputSchema }, () => ({ content: [], structuredContent: { sum: "three" } }));
server.tool({ name: "ask", description, replayable: true }, async () => {
  const { content } = await server.elicitation("Who are you?", z.object({ name: z.string() }));
  return text(`Hello ${content.name}`);
});

const transport = new HttpTransport(server, { path: "/mcp" });
const answer = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 });
const http = createServer(createRequestListener(answer));
http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
