import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  isLegacyRequest,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

let cancelled = 0;
/** Notifies the subscribers of modern revisions over HTTP. */
let tellModern = () => {};
const text = (value) => ({ content: [{ type: "text", text: value }] });
const names = ["Ada", "Alan", "Grace"];
const none = z.object({});

function makeServer() {
  const capabilities = { resources: { subscribe: true } };
  const mcp = new McpServer({ name: "interop", version: "1.0.0" }, { capabilities });
  const report = (ctx, progress) =>
    ctx.mcpReq._meta?.progressToken === undefined
      ? undefined
      : ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: ctx.mcpReq._meta.progressToken, progress, total: 3 },
        });
  mcp.registerTool(
    "add",
    { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  mcp.registerTool("fail", { inputSchema: none }, () => {
    throw new Error("It failed on purpose.");
  });
  mcp.registerTool("slow", { inputSchema: none }, async (_, ctx) => {
    for (const step of [1, 2, 3]) {
      await report(ctx, step);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text("done");
  });
  mcp.registerTool("wait", { inputSchema: none }, async (_, ctx) => {
    await report(ctx, 1);
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve));
    cancelled++;
    return text("cancelled");
  });
  mcp.registerTool("cancelled", { inputSchema: none }, () => text(String(cancelled)));
  const requestedSchema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
  mcp.registerTool("ask", { inputSchema: none }, (_, ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, "colour");
    if (answer) return text(`You said: ${String(answer.colour)}`);
    return inputRequired({
      inputRequests: { colour: inputRequired.elicit({ message: "Which colour?", requestedSchema }) },
    });
  });
  mcp.registerTool("sample", { inputSchema: none }, (_, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.model;
    if (answer) return text(`The model said: ${[answer.content].flat()[0].text}`);
    const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
    return inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
  });
  const subscribed = new Set();
  mcp.server.setRequestHandler("resources/subscribe", ({ params }) => (subscribed.add(params.uri), {}));
  mcp.server.setRequestHandler("resources/unsubscribe", ({ params }) => (subscribed.delete(params.uri), {}));
  mcp.registerTool("change", { inputSchema: none }, async () => {
    tellModern();
    await mcp.server.sendResourceUpdated({ uri: "memo://a" }).catch(() => {});
    return text("changed");
  });
  const complete = (typed) => names.filter((name) => name.startsWith(typed));
  const argsSchema = z.object({ name: completable(z.string(), complete) });
  mcp.registerPrompt("greet", { argsSchema }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello ${name}!` } }],
  }));
  const read = (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: `memo ${uri.host}` }] });
  mcp.registerResource("a", "memo://a", { mimeType: "text/plain" }, read);
  mcp.registerResource("memo", new ResourceTemplate("memo://{id}", { list: undefined }), {}, read);
  return mcp;
}

if (process.argv[2] === "http") {
  const modern = createMcpHandler(makeServer, { legacy: "reject" });
  tellModern = () => modern.notify.resourceUpdated("memo://a");
  const answerModern = toNodeHandler(modern);
  const sessions = new Map();
  const answer = async (request, response) => {
    const body = await bodyOf(request);
    if (!(await isLegacyRequest(await toWebRequest(request, body)))) {
      await answerModern(request, response, body);
      return;
    }
    const known = sessions.get(request.headers["mcp-session-id"]);
    if (known) {
      await known.handleRequest(request, response, body);
      return;
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await makeServer().connect(transport);
    await transport.handleRequest(request, response, body);
  };
  const http = createServer((request, response) => void answer(request, response));
  http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
} else serveStdio(makeServer);

async function bodyOf(request) {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body === "" ? undefined : JSON.parse(body);
}
