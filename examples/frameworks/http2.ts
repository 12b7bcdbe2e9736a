import { readFileSync } from "node:fs";
import { type Http2Session, createSecureServer } from "node:http2";
import { toNodeHandler } from "mcparley/node";
import { server } from "./notes.ts";
import { findUser } from "./users.ts";

const mcp = toNodeHandler(server, { allowedHosts: ["notes.example.com"] });

const tls = { key: readFileSync("key.pem"), cert: readFileSync("cert.pem") };
const http = createSecureServer({ ...tls, allowHTTP1: true }, (request, response) => {
  if (new URL(request.url, "https://any").pathname !== "/mcp") return response.writeHead(404).end("Not found");
  const user = findUser(request.headers.authorization);
  if (!user) return response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end("Sign in first.");
  mcp(request, response, { principal: { issuer: "notes-app", subject: user.id, scopes: user.scopes } });
});

const connections = new Set<Http2Session>();
http.on("session", (connection) => {
  connections.add(connection);
  connection.once("close", () => connections.delete(connection));
});

http.listen(3000);
process.once("SIGTERM", async () => {
  await mcp.close();
  http.close();
  for (const connection of connections) connection.close();
});
