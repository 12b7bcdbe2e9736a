import { FastMCP } from "fastmcp";
import { timingSafeEqual } from "node:crypto";

const key = Buffer.from(process.env.MCP_KEY ?? "replace-with-a-random-key");

const server = new FastMCP({
  name: "whoami",
  version: "1.0.0",
  authenticate: async ({ headers }) => {
    const given = Buffer.from(headers.authorization?.replace(/^Bearer /, "") ?? "");
    const isValid = given.length === key.length && timingSafeEqual(given, key);
    if (!isValid) throw new Response("The token is not valid.", { status: 401 });
    return { subject: "alice" };
  },
});
server.addTool({
  name: "whoami",
  description: "Names the caller.",
  execute: async (_input, { session }) => `You are ${session?.subject}.`,
});
server.getApp().get("/", (context) => context.text("Connect to /mcp."));
await server.start({
  transportType: "httpStream",
  httpStream: { port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" },
});
