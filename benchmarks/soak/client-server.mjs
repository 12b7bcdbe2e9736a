// @ts-check
import { listen } from "mcparley/node";
import { createServer, resource, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";

/* The server of the client's soak, over HTTP or on stdio. */

const server = createServer({
  name: "client-soak",
  version: "1.0.0",
  resources: { page: resource("soak://page", { read: () => "page" }) },
  tools: {
    echo: tool({
      input: /** @type {const} */ ({ type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
      call: (/** @type {any} */ { text }) => String(text),
    }),
  },
});

if (process.argv[2] === "http") {
  const { url } = await listen(server, { port: 0 });
  process.stdout.write(`${url}\n`);
} else await serveStdio(server);
