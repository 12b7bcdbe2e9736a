import { createMcpExpressApp, requireBearerAuth } from "@modelcontextprotocol/express";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer, OAuthError } from "@modelcontextprotocol/server";
import { timingSafeEqual } from "node:crypto";

const key = Buffer.from(process.env.MCP_KEY ?? "replace-with-a-random-key");

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "whoami", version: "1.0.0" });
  server.registerTool("whoami", { description: "Names the caller." }, ({ http }) => ({
    content: [{ type: "text", text: `You are ${http?.authInfo?.clientId}.` }],
  }));
  return server;
});
const verifyAccessToken = async (token: string) => {
  const given = Buffer.from(token);
  if (given.length !== key.length || !timingSafeEqual(given, key)) {
    throw new OAuthError("invalid_token", "The token is not valid.");
  }
  return { token, clientId: "alice", scopes: [], expiresAt: Date.now() / 1000 + 60 };
};

const app = createMcpExpressApp();
const mcp = toNodeHandler(handler);
app.all("/mcp", requireBearerAuth({ verifier: { verifyAccessToken } }), (request, response) => {
  void mcp(request, response, request.body);
});
app.get("/", (_request, response) => void response.send("Connect to /mcp."));
app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
