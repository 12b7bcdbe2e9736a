import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { z } from "zod";

const server = new McpServer(
  { name: "sums", version: "1.0.0", description: "Sums" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
server.tool(
  {
    name: "add",
    description: "Add two numbers.",
    schema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  },
  async ({ a, b }) => {
    const structuredContent = { sum: a + b };
    return { content: [{ type: "text" as const, text: JSON.stringify(structuredContent) }], structuredContent };
  },
);
new StdioTransport(server).listen();
