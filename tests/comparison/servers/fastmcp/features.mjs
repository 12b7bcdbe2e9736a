import { createServer } from "node:net";
import { FastMCP } from "fastmcp";
import { z } from "zod";

const logger = { debug() {}, error() {}, info() {}, log() {}, warn() {} };
const server = new FastMCP({ name: "features", version: "1.0.0", logger });
server.addTool({ name: "echo", parameters: z.object({ text: z.string() }), execute: async ({ text }) => text });
server.addTool({
  name: "fail",
  execute: async () => {
    throw new Error("postgres://user:secret@host");
  },
});
server.addTool({ name: "wrong", outputSchema: z.object({ sum: z.number() }), execute: async () => ({ sum: "three" }) });
server.addTool({
  name: "ask",
  execute: async (_input, { elicit }) => {
    const { content } = await elicit({
      message: "Who are you?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return `Hello ${content.name}`;
  },
});

const probe = createServer().listen(0, "127.0.0.1", () => {
  const { port } = probe.address();
  probe.close(async () => {
    await server.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1" } });
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  });
});
