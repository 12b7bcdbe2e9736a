import { listen } from "mcparley/node";
import { server } from "./server.ts";

// `npm run dev` serves over HTTP, because a host cannot restart a program on stdio after each change.
const { url } = await listen(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`Serving at ${url}`);
