import { toFetch } from "mcparley/http";
import { server } from "../../../notes.ts";
import { findUser } from "../../../users.ts";

const mcp = toFetch(server, { allowedHosts: ["notes.example.com"] });

async function handle(request: Request): Promise<Response> {
  const user = findUser(request.headers.get("authorization"));
  if (!user) return new Response("Sign in first.", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
  return mcp.fetch(request, { principal: { issuer: "notes-app", subject: user.id, scopes: user.scopes } });
}

export { handle as GET, handle as POST, handle as DELETE };

process.once("SIGTERM", () => void mcp.close());
