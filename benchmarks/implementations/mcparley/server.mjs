// @ts-check
import { createServer, prompt, resource, tool } from "mcparley/server";
import { z } from "zod";
import {
  book,
  bookUri,
  fillerDescription,
  greeting,
  itemText,
  page,
  pageUri,
  serverInfo,
  toolNames,
} from "../../content.mjs";
import { settings } from "../../settings.mjs";
import { serveOnBun } from "../serve-on-bun.mjs";

const echo = tool({
  description: "Says what it is told.",
  input: z.object({ text: z.string() }),
  call: ({ text }) => text,
});

const add = tool({
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  call: ({ a, b }) => ({ sum: a + b }),
});

/** @param {number} index */
const filler = (index) =>
  tool({
    description: fillerDescription(index),
    input: z.object({
      query: z.string().describe("What to look for, in plain words."),
      limit: z.number().int().min(1).max(100).optional().describe("How many to give at most."),
      isExact: z.boolean().optional().describe("Whether every word has to be there."),
    }),
    call: ({ query }) => query,
  });

const tools = Object.fromEntries(
  toolNames(settings.tools).map((name, index) => [name, { echo, add }[name] ?? filler(index - 2)]),
);

/** Notifies all subscribers that the page has changed. */
const change = tool({
  call: () => {
    server.resources.updated(pageUri);
    return "changed";
  },
});

const server = createServer({
  ...serverInfo,
  tools: settings.hasChange ? { ...tools, change } : tools,
  prompts: {
    greet: prompt({
      description: "Greets.",
      arguments: { name: { required: true } },
      get: ({ name }) => greeting(name),
    }),
  },
  resources: {
    page: resource(pageUri, { mimeType: "text/plain", read: () => page }),
    book: resource(bookUri, { mimeType: "text/plain", read: () => book() }),
    item: resource("bench://items/{id}", { mimeType: "text/plain", read: ({ id }) => itemText(id) }),
  },
});

if (settings.way === "http" && "Bun" in globalThis) {
  const { toFetch } = await import("mcparley/http");
  serveOnBun(toFetch(server, { path: "/mcp", sessions: settings.mode === "session" }).fetch);
} else if (settings.way === "http") {
  const { listen } = await import("mcparley/node");
  const { url } = await listen(server, { port: 0, sessions: settings.mode === "session" });
  process.stdout.write(`${url}\n`);
} else {
  const { serveStdio } = await import("mcparley/stdio");
  await serveStdio(server);
}
