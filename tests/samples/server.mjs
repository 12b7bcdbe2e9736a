// @ts-check
import { listen } from "mcparley/node";
import { createServer, resource, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { z } from "zod";

/* The server of the reader in samples that name one, such as `node server.js`. It is copied into a project with the packed library. */

const readOnly = { readOnlyHint: true };
const text = z.string();

const search = tool({
  input: z.object({ query: text }),
  annotations: readOnly,
  call: ({ query }) => `Found ${query}.`,
});
const server = createServer({
  name: "sums",
  version: "1.0.0",
  tools: {
    add: tool({
      input: z.object({ a: z.number(), b: z.number().default(0) }),
      annotations: readOnly,
      call: ({ a, b }) => String(a + b),
    }),
    search,
    search_documents: search,
    find_order: tool({
      input: z.object({ number: z.number() }),
      annotations: readOnly,
      call: ({ number }) => `Order ${number}: open`,
    }),
    delete_note: tool({ input: z.object({ id: z.number() }), call: ({ id }) => `Note ${id} is deleted.` }),
  },
  resources: {
    today: resource("report://today", { read: () => "Two orders are open." }),
    film: resource("file:///film.mp4", { mimeType: "video/mp4", read: () => new Uint8Array(1_000_000) }),
  },
});

if (process.argv[2] === "http") {
  const { url } = await listen(server, { port: 0 });
  process.stdout.write(`${url}\n`);
} else await serveStdio(server);
