import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

const server = new McpServer({ name: "features", version: "1.0.0", schemaAdapter: (schema) => z.toJSONSchema(schema) });
server.tool("echo", { inputSchema: z.object({ text: z.string() }), handler: (args) => text(args.text) });
server.tool("fail", {
  handler: () => {
    throw new Error("postgres://user:secret@host");
  },
});
const outputSchema = z.object({ sum: z.number() });
server.tool("wrong", { outputSchema, handler: () => ({ content: [], structuredContent: { sum: "three" } }) });
server.tool("ask", {
  handler: async (_args, ctx) => {
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const { content } = await ctx.elicit({ message: "Who are you?", schema });
    return text(`Hello ${content.name}`);
  },
});

const transport = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter(),
});
const http = createServer(getRequestListener(transport.bind(server)));
http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
