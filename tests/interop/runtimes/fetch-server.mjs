import { toFetch } from "mcparley/http";
import { server } from "../matrix/peers/mcparley/features.mjs";

/** Serves with the server of Bun or Deno, and writes the URL. The argument is `http`, or `sse` for the transport of 2024-11-05. */
const { fetch } = toFetch(server, { path: "/mcp", legacySse: true });
const options = { port: 0, hostname: "127.0.0.1" };
const path = process.argv[2] === "sse" ? "/sse" : "/mcp";
const write = (port) => process.stdout.write(`http://127.0.0.1:${port}${path}\n`);

if (globalThis.Bun) write(Bun.serve({ ...options, fetch }).port);
else Deno.serve({ ...options, onListen: ({ port }) => write(port) }, fetch);
