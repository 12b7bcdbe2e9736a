import { toFetch } from "mcparley/http";
import { server } from "./notes.ts";
import { findUser } from "./users.ts";

const mcp = toFetch(server, { allowedHosts: ["notes.example.com"], sessions: false });

interface Context {
  waitUntil(work: Promise<unknown>): void;
}

export default {
  async fetch(request: Request, _env: unknown, ctx: Context): Promise<Response> {
    if (new URL(request.url).pathname !== "/mcp") return new Response("Not found", { status: 404 });
    const user = findUser(request.headers.get("authorization"));
    if (!user) return new Response("Sign in first.", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
    const principal = { issuer: "notes-app", subject: user.id, scopes: user.scopes };
    return mcp.fetch(request, { principal }, ctx);
  },
};
