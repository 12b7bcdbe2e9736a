// @ts-check
import { listen } from "mcparley/node";
import { serveStdio } from "mcparley/stdio";
import { server } from "./server.mjs";

/* The server of the soak, over HTTP or on stdio. Sessions are forgotten soon, so that what they leave would be seen. */

// Errors of handlers are told on stderr: it is opened now, so that it is no handle that came later.
process.stderr.write("");
if (process.argv[2] === "http") {
  const { url } = await listen(server, { port: 0, sessions: { idle: Number(process.argv[3]) } });
  process.stdout.write(`${url}\n`);
} else await serveStdio(server);
