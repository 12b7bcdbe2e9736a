import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

let cancelled = 0;
const text = (value) => ({ content: [{ type: "text", text: value }] });
const names = ["Ada", "Alan", "Grace"];

function makeServer() {
  const mcp = new McpServer(
    { name: "interop", version: "1.0.0" },
    { capabilities: { resources: { subscribe: true } } },
  );
  const report = (extra, progress) =>
    extra._meta?.progressToken === undefined
      ? undefined
      : extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken: extra._meta.progressToken, progress, total: 3 },
        });
  mcp.registerTool(
    "add",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  mcp.registerTool("fail", {}, () => {
    throw new Error("It failed on purpose.");
  });
  mcp.registerTool("slow", {}, async (extra) => {
    for (const step of [1, 2, 3]) {
      await report(extra, step);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text("done");
  });
  mcp.registerTool("wait", {}, async (extra) => {
    await report(extra, 1);
    await new Promise((resolve) => extra.signal.addEventListener("abort", resolve));
    cancelled++;
    return text("cancelled");
  });
  mcp.registerTool("cancelled", {}, () => text(String(cancelled)));
  mcp.registerTool("ask", {}, async () => {
    const { content } = await mcp.server.elicitInput({
      message: "Which colour?",
      requestedSchema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
    });
    return text(`You said: ${String(content?.colour)}`);
  });
  mcp.registerTool("sample", {}, async () => {
    const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
    const { content } = await mcp.server.createMessage({ messages, maxTokens: 10 });
    return text(`The model said: ${content.text}`);
  });
  const subscribed = new Set();
  mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
  mcp.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
  mcp.registerTool("change", {}, async () => {
    if (subscribed.has("memo://a")) await mcp.server.sendResourceUpdated({ uri: "memo://a" });
    return text("changed");
  });
  const complete = (typed) => names.filter((name) => name.startsWith(typed));
  mcp.registerPrompt("greet", { argsSchema: { name: completable(z.string(), complete) } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello ${name}!` } }],
  }));
  const read = (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: `memo ${uri.host}` }] });
  mcp.registerResource("a", "memo://a", { mimeType: "text/plain" }, read);
  mcp.registerResource("memo", new ResourceTemplate("memo://{id}", { list: undefined }), {}, read);
  return mcp;
}

if (process.argv[2] === "http") {
  const sessions = new Map();
  const answer = async (request, response) => {
    const known = sessions.get(request.headers["mcp-session-id"]);
    if (known) {
      await known.handleRequest(request, response);
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await makeServer().connect(transport);
    await transport.handleRequest(request, response);
  };
  const http = createServer((request, response) => void answer(request, response));
  http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
} else await makeServer().connect(new StdioServerTransport());
