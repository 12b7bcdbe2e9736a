import { MCPServer, acceptedContent, completable, inputRequired } from "mcp-use";
import { z } from "zod";

let cancelled = 0;
const text = (value) => ({ content: [{ type: "text", text: value }] });
const names = ["Ada", "Alan", "Grace"];
const server = new MCPServer({ name: "interop", version: "1.0.0" });
const inputSchema = z.object({});
const requestedSchema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };

server.tool(
  {
    name: "add",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  },
  async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
);
server.tool({ name: "fail", inputSchema }, async () => ({ ...text("It failed on purpose."), isError: true }));
server.tool({ name: "slow", inputSchema }, async (_, ctx) => {
  for (const step of [1, 2, 3]) {
    await ctx.reportProgress(step, 3);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return text("done");
});
server.tool({ name: "wait", inputSchema }, async (_, ctx) => {
  await ctx.reportProgress(1);
  await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  cancelled++;
  return text("cancelled");
});
server.tool({ name: "cancelled", inputSchema }, async () => text(String(cancelled)));
server.tool({ name: "ask", inputSchema }, async (_, ctx) => {
  const answer = acceptedContent(ctx.inputResponses, "colour");
  if (answer) return text(`You said: ${answer.colour}`);
  return inputRequired({
    inputRequests: { colour: inputRequired.elicit({ message: "Which colour?", requestedSchema }) },
  });
});
server.tool({ name: "sample", inputSchema }, async (_, ctx) => {
  const answer = ctx.inputResponses?.model;
  if (answer) return text(`The model said: ${[answer.content].flat()[0].text}`);
  const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
  return inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
});
server.tool({ name: "change", inputSchema }, async () => {
  await server.notifyResourceUpdated("memo://a");
  return text("changed");
});
const complete = (typed) => names.filter((name) => name.startsWith(typed));
server.prompt({ name: "greet", schema: z.object({ name: completable(z.string(), complete) }) }, async ({ name }) => ({
  messages: [{ role: "user", content: { type: "text", text: `Hello ${name}!` } }],
}));
const memo = (uri, id) => ({ contents: [{ uri, mimeType: "text/plain", text: `memo ${id}` }] });
server.resource({ name: "a", uri: "memo://a", mimeType: "text/plain" }, async () => memo("memo://a", "a"));
server.resourceTemplate({ name: "memo", uriTemplate: "memo://{id}", mimeType: "text/plain" }, async (uri, { id }) =>
  memo(uri.href ?? uri, id),
);

const listening = await server.listen(0, { host: "127.0.0.1" });
process.stdout.write(`http://127.0.0.1:${listening.port ?? new URL(listening.url).port}/mcp\n`);
