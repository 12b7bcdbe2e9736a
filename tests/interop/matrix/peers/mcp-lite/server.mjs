import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { serveFetch } from "../serve-fetch.mjs";

const text = (value) => ({ content: [{ type: "text", text: value }] });

const server = new McpServer({
  name: "interop",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});
server.tool("add", {
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  handler: ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
});
server.tool("fail", { handler: () => ({ ...text("It failed on purpose."), isError: true }) });
server.tool("slow", {
  handler: async (_, ctx) => {
    for (const step of [1, 2, 3]) {
      await ctx.progress?.({ progress: step, total: 3 });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text("done");
  },
});
const colours = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
server.tool("ask", {
  handler: async (_, ctx) => {
    const answer = await ctx.elicit({ message: "Which colour?", schema: colours });
    return text(`You said: ${answer.content?.colour}`);
  },
});
server.tool("sample", {
  handler: async (_, ctx) => {
    const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
    const { content } = await ctx.sample({ messages, prompt: "What is six times seven?", maxTokens: 10 });
    return text(`The model said: ${[content].flat()[0].text}`);
  },
});
server.prompt("greet", {
  description: "Greets somebody.",
  arguments: z.object({ name: z.string() }),
  handler: ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Hello ${name}!` } }] }),
});
const read = (uri, { id = "a" }) => ({ contents: [{ uri: uri.href, type: "text", text: `memo ${id}` }] });
server.resource("memo://a", { name: "a", mimeType: "text/plain" }, read);
server.resource("memo://{id}", { name: "memo", mimeType: "text/plain" }, read);

const transport = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter({ defaultTimeoutMs: 10_000 }),
});
serveFetch(transport.bind(server));
