import compression from "compression";
import express, { type Request } from "express";
import { toNodeHandler } from "mcparley/node";
import { server } from "./notes.ts";
import { type User, findUser } from "./users.ts";

const mcp = toNodeHandler(server, { allowedHosts: ["notes.example.com"] });

const app = express();
app.use(compression(), express.json({ limit: "4mb" }));
app.get("/", (_request, response) => void response.send("The notes are open."));

app.use("/mcp", (request: Request & { auth?: User }, response, next) => {
  request.auth = findUser(request.headers.authorization);
  if (request.auth) next();
  else response.status(401).set("WWW-Authenticate", "Bearer").send("Sign in first.");
});
app.all("/mcp", (request: Request & { auth?: User }, response) => {
  const { id, scopes } = request.auth!;
  mcp(request, response, { principal: { issuer: "notes-app", subject: id, scopes } });
});

const http = app.listen(3000);
process.once("SIGTERM", async () => {
  await mcp.close();
  http.close();
});
