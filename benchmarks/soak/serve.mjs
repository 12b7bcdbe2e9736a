// @ts-check
import { listen } from "mcparley/node";
import { serveStdio } from "mcparley/stdio";
import { sessions, timeouts } from "./limits.mjs";
import { server } from "./server.mjs";

/* The server of the soak, over HTTP or on stdio. Sessions end soon, so that a leak of them is visible. */

// Opens stderr now, so that it does not count as a handle that was opened later.
process.stderr.write("");
if (process.argv[2] === "http") {
  const { hostileCalls } = await import("./hostile-tools.mjs");
  for (const { name, tool } of hostileCalls) server.tools.set(name, tool);
  const { url } = await listen(server, { port: 0, sessions, ...timeouts });
  process.stdout.write(`${url}\n`);
} else await serveStdio(server);
