import { bodyParser } from "@koa/bodyparser";
import Router from "@koa/router";
import Koa from "koa";
import { toNodeHandler } from "mcparley/node";
import { server } from "./notes.ts";
import { type User, findUser } from "./users.ts";

const mcp = toNodeHandler(server, { allowedHosts: ["notes.example.com"] });

const router = new Router<{ user: User }>();
router.get("/", (ctx) => void (ctx.body = "The notes are open."));

router.use("/mcp", async (ctx, next) => {
  const user = findUser(ctx.headers.authorization);
  if (!user) return ctx.throw(401, "Sign in first.", { headers: { "WWW-Authenticate": "Bearer" } });
  ctx.state.user = user;
  await next();
});
router.all("/mcp", (ctx) => {
  ctx.respond = false;
  const { id, scopes } = ctx.state.user;
  mcp(ctx.req, ctx.res, { body: ctx.request.body, principal: { issuer: "notes-app", subject: id, scopes } });
});

const app = new Koa();
app.use(bodyParser({ jsonLimit: "4mb" })).use(router.routes());

const http = app.listen(3000);
process.once("SIGTERM", async () => {
  await mcp.close();
  http.close();
});
