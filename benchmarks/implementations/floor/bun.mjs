// @ts-check
import { serveOnBun } from "../serve-on-bun.mjs";
import { answer } from "./answer.mjs";

serveOnBun(async (request) => Response.json(answer(await request.json())));
