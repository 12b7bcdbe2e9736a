import { FastMCP } from "fastmcp";
import { z } from "zod";

const server = new FastMCP({ name: "hello", version: "1.0.0" });
server.addTool({
  name: "hello",
  description: "Greets a person.",
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }) => `Hello, ${name}!`,
});
await server.start({ transportType: "stdio" });
