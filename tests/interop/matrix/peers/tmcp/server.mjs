import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { z } from "zod";
import { serveFetch } from "../serve-fetch.mjs";

let cancelled = 0;
const text = (value) => ({ content: [{ type: "text", text: value }] });
const names = ["Ada", "Alan", "Grace"];

const server = new McpServer(
  { name: "interop", version: "1.0.0" },
  {
    adapter: new ZodJsonSchemaAdapter(),
    capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} },
  },
);
const tool = (name, handler, more = {}) => server.tool({ name, description: name, ...more }, handler);

tool("add", ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }), {
  schema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
});
tool("fail", () => ({ ...text("It failed on purpose."), isError: true }));
tool("slow", async () => {
  for (const step of [1, 2, 3]) {
    server.progress(step, 3);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return text("done");
});
tool("wait", async () => {
  const { signal } = server.ctx;
  server.progress(1);
  // Without a signal, the call ends by itself, so that it does not delay others.
  const isAborted = await new Promise((resolve) => {
    signal?.addEventListener("abort", () => resolve(true));
    setTimeout(resolve, 1_500, false);
  });
  if (isAborted) cancelled++;
  return text("ended");
});
tool("cancelled", () => text(String(cancelled)));
// These two tools run again from the start when the answer arrives, and declare that they support it.
const replayable = { replayable: true };
tool(
  "ask",
  async () => {
    const answer = await server.elicitation("Which colour?", z.object({ colour: z.string() }));
    return text(`You said: ${answer.content?.colour}`);
  },
  replayable,
);
tool(
  "sample",
  async () => {
    const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
    const answer = await server.message({ messages, maxTokens: 10 });
    return text(`The model said: ${[answer.content].flat()[0].text}`);
  },
  replayable,
);
tool("change", () => {
  server.changed("resource", "memo://a");
  return text("changed");
});
server.prompt(
  {
    name: "greet",
    description: "Greets somebody.",
    schema: z.object({ name: z.string() }),
    complete: {
      name: (typed) => ({ completion: { values: names.filter((name) => name.startsWith(typed)), hasMore: false } }),
    },
  },
  ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Hello ${name}!` } }] }),
);
const memo = (uri, id) => ({ contents: [{ uri, mimeType: "text/plain", text: `memo ${id}` }] });
server.resource({ name: "a", description: "A memo.", uri: "memo://a" }, (uri) => memo(uri, "a"));
server.template({ name: "memo", description: "Any memo.", uri: "memo://{id}" }, (uri, { id }) => memo(uri, id));

if (process.argv[2] === "http") {
  const transport = new HttpTransport(server, { path: "/mcp" });
  serveFetch((request) => transport.respond(request));
} else new StdioTransport(server).listen();
