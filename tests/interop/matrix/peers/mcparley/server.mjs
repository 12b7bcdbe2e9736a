import { listen } from "mcparley/node";
import { serveStdio } from "mcparley/stdio";
import { server } from "./features.mjs";

// `http` and `sse` name the URL that is written: of Streamable HTTP, or of the transport of 2024-11-05.
const transport = process.argv[2] ?? "stdio";
if (transport === "stdio") await serveStdio(server);
else {
  const { url } = await listen(server, { port: 0, cors: true, legacySse: true });
  process.stdout.write(`${transport === "sse" ? new URL("/sse", url) : url}\n`);
}
