import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { toFetch } from "mcparley/http";
import { server } from "./notes.ts";
import { type User, findUser } from "./users.ts";

const mcp = toFetch(server, { allowedHosts: ["notes.example.com"] });

const app = new Hono<{ Variables: { user: User } }>().basePath("/api");
app.use(compress());
app.get("/", (c) => c.text("The notes are open."));

app.use("/mcp", async (c, next) => {
  const user = findUser(c.req.header("authorization"));
  if (!user) return c.text("Sign in first.", 401, { "WWW-Authenticate": "Bearer" });
  c.set("user", user);
  return next();
});
app.all("/mcp", (c) => {
  const { id, scopes } = c.get("user");
  return mcp.fetch(c.req.raw, { principal: { issuer: "notes-app", subject: id, scopes } });
});

const http = serve({ fetch: app.fetch, port: 3000 });
process.once("SIGTERM", async () => {
  await mcp.close();
  http.close();
});
