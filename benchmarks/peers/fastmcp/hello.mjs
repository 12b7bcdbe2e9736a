import { FastMCP } from "fastmcp";

const server = new FastMCP({ name: "hello", version: "1.0.0" });
server.addTool({ name: "hello", description: "Greets.", execute: async () => "Hello" });
await server.start({ transportType: "stdio" });
