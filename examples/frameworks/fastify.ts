import Fastify from "fastify";
import { toNodeHandler } from "mcparley/node";
import { server } from "./notes.ts";
import { type User, findUser } from "./users.ts";

declare module "fastify" {
  interface FastifyRequest {
    user?: User;
  }
}

const mcp = toNodeHandler(server, { allowedHosts: ["notes.example.com"] });

const fastify = Fastify({ bodyLimit: 4 * 1024 * 1024 });
fastify.get("/", () => "The notes are open.");

fastify.register((api, _options, done) => {
  api.decorateRequest("user");
  api.addHook("onRequest", async (request, reply) => {
    request.user = findUser(request.headers.authorization);
    if (!request.user) return reply.code(401).header("WWW-Authenticate", "Bearer").send("Sign in first.");
  });
  api.all("/mcp", (request, reply) => {
    reply.hijack();
    const { id, scopes } = request.user!;
    mcp(request.raw, reply.raw, { body: request.body, principal: { issuer: "notes-app", subject: id, scopes } });
  });
  done();
});

fastify.addHook("preClose", () => mcp.close());
await fastify.listen({ port: 3000 });
process.once("SIGTERM", () => void fastify.close());
