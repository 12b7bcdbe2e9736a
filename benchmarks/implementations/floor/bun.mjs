// @ts-check
import { serverInfo } from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { serveOnBun } from "../serve-on-bun.mjs";
import { answer } from "./answer.mjs";

/* The floor on Bun. Its replies have the members of those of this library, so that both stringify the same. */

const metadata = settings.mode === "modern" ? { _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } } : {};

serveOnBun(async (request) => {
  const { result, ...response } = /** @type {{ result?: object }} */ (answer(await request.json()));
  return Response.json({ ...response, result: { ...result, ...metadata } });
});
