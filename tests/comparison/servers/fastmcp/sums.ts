import { FastMCP } from "fastmcp";
import { z } from "zod";

const server = new FastMCP({ name: "sums", version: "1.0.0" });
server.addTool({
  name: "add",
  description: "Add two numbers.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => {
    const structuredContent = { sum: a + b };
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  },
});
await server.start({ transportType: "stdio" });
