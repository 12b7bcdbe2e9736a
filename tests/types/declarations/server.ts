import {
  Cancelled,
  type Context,
  Declined,
  LocalError,
  type Middleware,
  type MiddlewareCall,
  McpError,
  ProtocolError,
  ToolError,
  assistant,
  audio,
  auditTo,
  createServer,
  embed,
  image,
  inputRequired,
  jsonLogger,
  link,
  logTo,
  memoryStore,
  prompt,
  rateLimit,
  requireScopes,
  resource,
  resourceNotFound,
  spendState,
  text,
  tool,
  toolResult,
  urlRequired,
  user,
  withContext,
} from "mcparley/server";
import { z } from "zod";

export const toolOfLibrary = tool({
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  output: z.object({ sum: z.number() }),
  call: ({ a, b }) => ({ sum: a + b }),
});
export const toolOfJsonSchema = tool({
  input: { type: "object", properties: { a: { type: "number" }, b: { enum: ["x", "y"] } }, required: ["a"] },
  output: { type: "object", properties: { sum: { type: "number" } } },
  call: ({ a }) => ({ sum: a }),
});
const anySchema: Record<string, unknown> = { type: "object" };
export const toolOfAnySchema = tool({ input: anySchema, output: anySchema, call: () => ({}) });
export const toolOfText = tool({ call: () => "now" });
export const toolOfContent = tool({ call: () => [image("", "image/png"), "text"] });
export const toolOfResult = tool({ call: () => toolResult({ content: [] }) });
export const toolOfWholeResult = tool({ call: () => ({ content: [text("a")] }) });
export const promptWithArguments = prompt({
  arguments: { code: { required: true }, language: { complete: ["ts", "js"] } },
  get: ({ code }) => user(code),
});
export const promptWithPlainArgument = prompt({ arguments: { language: {} }, get: ({ language }) => String(language) });
export const toolOfAnyValue = tool({
  input: { type: "object", properties: { name: { type: "string" }, value: {} }, required: ["name"] },
  call: () => "a",
});
export const promptWithout = prompt({ get: () => [assistant("a"), "b"] });
export const singleResource = resource("note://one", { read: () => "one" });
export const template = resource("note://{id}{?tags*}", { read: ({ id, tags }) => id + String(tags) });
const anyUri: string = "note://{id}".trim();
export const anyTemplate = resource(anyUri, { read: ({ id }) => String(id) });

export const withDatabase = withContext<{ db: { query: (id: string) => string } }>();
export const toolWithContext = withDatabase.tool({ call: (_, ctx) => ctx.db.query("a") });
export const promptWithContext = withDatabase.prompt({ get: (_, ctx) => ctx.db.query("a") });
export const resourceWithContext = withDatabase.resource("note://{id}", { read: ({ id }, ctx) => ctx.db.query(id) });

export const server = createServer({
  name: "all",
  version: "1.0.0",
  tools: {
    toolOfLibrary,
    toolOfJsonSchema,
    toolOfAnySchema,
    toolOfText,
    toolOfContent,
    toolOfResult,
    toolOfWholeResult,
  },
  prompts: { promptWithArguments, promptWithout },
  resources: { singleResource, template, anyTemplate },
});
export const serverWithContext = createServer({
  name: "context",
  version: "1.0.0",
  context: () => ({ db: { query: (id: string) => id } }),
  tools: { toolWithContext },
  prompts: { promptWithContext },
  resources: { resourceWithContext },
});
export const emptyServer = createServer({ name: "empty", version: "1.0.0" });
export const mounted = createServer({ name: "gateway", version: "1.0.0" }).mount("all", server);
export const { tools, prompts, resources } = server;

export const contents = [
  assistant("a"),
  audio("", "audio/wav"),
  embed("note://one", "one"),
  image("", "image/png"),
  link("note://one"),
  text("a"),
  user("a"),
];
export const message = assistant("a");
export const sound = audio("", "audio/wav");
export const embedded = embed("note://one", "one");
export const picture = image("", "image/png");
export const linked = link("note://one");
export const words = text("a");
export const said = user("a");
export const whole = toolResult({ content: [] });
export const input = inputRequired({ requestState: "a" });
export const visit = urlRequired({ message: "Pay.", url: "https://example.com/" });

export const audit = auditTo((record) => void record);
export const logger = jsonLogger();
export const logs = logTo(logger);
export const store = memoryStore();
export const limit = rateLimit({ perSecond: 10 });
export const scopes = (...given: Parameters<typeof requireScopes>) => requireScopes(...given);
export const missing = resourceNotFound("note://two");
export const isMcpError = (error: unknown) => error instanceof McpError;
export const errors = [new Cancelled(), new Declined(), new ToolError("a"), new ProtocolError(1, "a")];
export const localError = new LocalError("timeout", "a");
export const handler = tool({
  call: async (_, ctx) => {
    const { name } = await ctx.elicit({ message: "?", schema: z.object({ name: z.string() }) });
    return name;
  },
});

export const sampled = (ctx: Context) => ctx.sample({ messages: [], maxTokens: 1 });
export const roots = (ctx: Context) => ctx.roots();
export const { elicit, log, progress, once } = {} as Context;
export const peer = (ctx: Context) => ctx.peer;
export const peerInfo = (ctx: Context) => ctx.peer.info;
export const capabilities = (ctx: Context) => ctx.peer.capabilities;
export const principal = (ctx: Context) => ctx.principal;
export const meta = (ctx: Context) => ctx.meta;
export const asked = (ctx: Context) =>
  ctx.elicit({ message: "?", schema: { type: "object", properties: { a: { type: "string" } } } });
export const middleware: Middleware = async (call, next) => ({ ...(await next()), method: call.method });
export const paramsOf = (call: MiddlewareCall) => call.params;
export const callParamsOf = (call: MiddlewareCall<"tools/call">) => call.params;
export const attached = (...given: Parameters<typeof server.attach>) => server.attach(...given);
export const used = server.use({ "tools/list": async (_, next) => next() });
export const registered = server.tools.get("toolOfText");
export const definition: Definition = { name: "x", version: "1" };
type Definition = Parameters<typeof createServer>[0];
export const spent = (...given: Parameters<typeof spendState>) => spendState(...given);
