import { H3, HTTPError, serve } from "h3";
import { toFetch } from "mcparley/http";
import { server } from "./notes.ts";
import { type User, findUser } from "./users.ts";

const mcp = toFetch(server, { allowedHosts: ["notes.example.com"] });

const app = new H3();
app.get("/", () => "The notes are open.");

app.use("/mcp", (event) => {
  const user = findUser(event.req.headers.get("authorization"));
  if (!user) throw new HTTPError({ status: 401, headers: { "WWW-Authenticate": "Bearer" } });
  event.context.user = user;
});
app.all("/mcp", (event) => {
  const { id, scopes } = event.context.user as User;
  return mcp.fetch(event.req, { principal: { issuer: "notes-app", subject: id, scopes } });
});

const http = serve(app, { port: 3000, gracefulShutdown: false });
process.once("SIGTERM", async () => {
  await mcp.close();
  await http.close();
});
