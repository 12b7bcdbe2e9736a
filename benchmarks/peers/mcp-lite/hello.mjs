import { McpServer } from "mcp-lite";
import { serveLines } from "./serve-lines.mjs";

const server = new McpServer({ name: "hello", version: "1.0.0" });
server.tool("hello", { description: "Greets.", handler: () => ({ content: [{ type: "text", text: "Hello" }] }) });
await serveLines(server);
