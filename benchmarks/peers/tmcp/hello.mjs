import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";

const server = new McpServer(
  { name: "hello", version: "1.0.0" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
);
server.tool({ name: "hello", description: "Greets." }, () => ({ content: [{ type: "text", text: "Hello" }] }));
new StdioTransport(server).listen();
