import {
  Cancelled,
  type ConnectOptions,
  Declined,
  LocalError,
  McpError,
  ProtocolError,
  type RequestOptions,
  ToolError,
  connect,
  forgetRevisions,
  openClient,
  readContent,
  readPromptMessages,
  readResourceContents,
  validateJson,
} from "mcparley/client";
import { createServer, prompt, resource, tool } from "mcparley/server";
import { z } from "zod";

const server = createServer({
  name: "x",
  version: "1",
  tools: {
    add: tool({ input: z.object({ a: z.number() }), output: z.object({ b: z.number() }), call: ({ a }) => ({ b: a }) }),
    now: tool({ call: () => "now" }),
    read: tool({ input: { type: "object" }, output: { type: "object" }, call: () => ({}) }),
  },
  prompts: { review: prompt({ arguments: { code: { required: true } }, get: ({ code }) => code }) },
  resources: { note: resource("note://{id}", { read: ({ id }) => id }) },
});

export const open = () => connect("https://example.com/mcp");
export const openTyped = () => connect<typeof server>("https://example.com/mcp");
export const openServer = () => connect(server);
export const openCommand = () => connect({ command: "node", args: ["server.js"] });
export const fromFactory = (...given: Parameters<typeof openClient>) => openClient(...given);
export const forget = () => forgetRevisions();
export const checked = (...given: Parameters<typeof validateJson>) => validateJson(...given);
export const content = readContent([{ type: "text", text: "a" }]);
export const messages = readPromptMessages([{ role: "user", content: { type: "text", text: "a" } }]);
export const contents = readResourceContents([{ uri: "note://a", text: "a" }]);
export const isMcpError = (error: unknown) => error instanceof McpError;
export const errors = [new Cancelled(), new Declined(), new ToolError("a"), new ProtocolError(1, "a")];
export const localError = new LocalError("timeout", "a");

const client = await openTyped();
export { client };
export const { tools, prompts } = client;
export const untyped = await open();
export const info = client.server;
export const sum = await client.tools.add({ a: 1 });
export const called = await client.callTool("add", { a: 1 });
export const calledText = await client.callTool("now");
export const calledResult = await client.callToolResult("add", { a: 1 });
export const got = await client.prompts.review({ code: "a" });
export const gotByName = await client.getPrompt("review", { code: "a" });
export const read = await client.readResource("note://a");
export const completed = await client.complete({ type: "ref/prompt", name: "review" }, { name: "code", value: "a" });
export const requested = await client.request("tools/list");
export const listed = client.listTools();
export const listedPrompts = client.listPrompts();
export const listedResources = client.listResources();
export const listedTemplates = client.listResourceTemplates();
export const firstTools = await client.listTools().all();
export const subscription = await client.listen({ tools: true }, (change) => void change);
export const followed = await client.follow("tools/call", {});
export const { closed, state, target } = client;
export const options = (given: ConnectOptions) => ({ ...given, info: { name: "x", version: "1" } });
export const { elicit, sample, roots, onLog, onCall, confirm } = {} as ConnectOptions;
export const requestOptions = (given: RequestOptions) => ({ ...given });
