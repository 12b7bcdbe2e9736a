import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "hello", version: "1.0.0" });
server.registerTool("hello", { description: "Greets." }, () => ({ content: [{ type: "text", text: "Hello" }] }));
await server.connect(new StdioServerTransport());
