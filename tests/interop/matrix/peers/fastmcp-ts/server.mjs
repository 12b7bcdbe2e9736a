import { createServer } from "node:net";
import { FastMCP, UserError } from "fastmcp";
import { z } from "zod";

let cancelled = 0;
const names = ["Ada", "Alan", "Grace"];
const server = new FastMCP({ name: "interop", version: "1.0.0" });
const tool = (name, execute, more = {}) => server.addTool({ name, description: name, execute, ...more });

tool("add", async ({ a, b }) => String(a + b), { parameters: z.object({ a: z.number(), b: z.number() }) });
tool("fail", async () => {
  throw new UserError("It failed on purpose.");
});
tool("slow", async (_, { reportProgress }) => {
  for (const step of [1, 2, 3]) {
    await reportProgress({ progress: step, total: 3 });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return "done";
});
tool("wait", async (_, { signal, reportProgress }) => {
  await reportProgress({ progress: 1 });
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  cancelled++;
  return "cancelled";
});
tool("cancelled", async () => String(cancelled));
tool("ask", async (_, { elicit }) => {
  const requestedSchema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
  const { content } = await elicit({ message: "Which colour?", requestedSchema });
  return `You said: ${content?.colour}`;
});
tool("sample", async (_, { sessionId }) => {
  const session = server.sessions.find((one) => sessionId === undefined || one.sessionId === sessionId);
  const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
  const { content } = await session.requestSampling({ messages, maxTokens: 10 });
  return `The model said: ${content.text}`;
});
tool("change", async () => {
  await server.sendResourceUpdated("memo://a");
  return "changed";
});
server.addPrompt({
  name: "greet",
  description: "Greets somebody.",
  arguments: [
    {
      name: "name",
      required: true,
      complete: async (typed) => ({ values: names.filter((name) => name.startsWith(typed)) }),
    },
  ],
  load: async ({ name }) => `Hello ${name}!`,
});
server.addResource({ uri: "memo://a", name: "a", mimeType: "text/plain", load: async () => ({ text: "memo a" }) });
server.addResourceTemplate({
  uriTemplate: "memo://{id}",
  name: "memo",
  mimeType: "text/plain",
  arguments: [{ name: "id", required: true }],
  load: async ({ id }) => ({ text: `memo ${id}` }),
});

if (process.argv[2] === "http") {
  const port = await freePort();
  await server.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1" } });
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
} else await server.start({ transportType: "stdio" });

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
