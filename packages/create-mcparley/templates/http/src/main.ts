#!/usr/bin/env node
import { existsSync } from "node:fs";
import { listen } from "mcparley/node";
import { server } from "./server.ts";

// Variables of the environment have precedence over those of the file.
if (existsSync(".env")) process.loadEnvFile();
const { PORT = "3000", HOST = "127.0.0.1", ALLOWED_HOSTS = "" } = process.env;

const running = await listen(server, {
  port: Number(PORT),
  host: HOST,
  // The names under which other machines reach this server, such as mcp.example.com. Loopback names are always allowed.
  allowedHosts: ALLOWED_HOSTS.split(",").filter((name) => name !== ""),
});
console.log(`Serving at ${running.url}`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await running.drain();
    await running.close();
    process.exit(0);
  });
}
