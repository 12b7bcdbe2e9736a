import { toFetch } from "mcparley/http";
import { server } from "./notes.ts";
import { findUser } from "./users.ts";

const mcp = toFetch(server, { allowedHosts: ["notes.example.com"] });

async function handle(request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== "/mcp") return new Response("Not found", { status: 404 });
  const user = findUser(request.headers.get("authorization"));
  if (!user) return new Response("Sign in first.", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
  return mcp.fetch(request, { principal: { issuer: "notes-app", subject: user.id, scopes: user.scopes } });
}

const http = Deno.serve({ port: 3000 }, handle);
Deno.addSignalListener("SIGTERM", async () => {
  await mcp.close();
  await http.shutdown();
});
