// @ts-check
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { listen } from "mcparley/node";
import { createServer } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { tasks } from "mcparley/tasks";
import { prompts, resources } from "./prompts-and-resources.mjs";
import { rawEntries } from "./raw-entries.mjs";
import { askingTools, changingTools, legacyTool, plainTools, slowTools } from "./tools.mjs";

/*
 * A server with a tool, a prompt or a resource for each part of the protocol that the chat shows, on stdio.
 *
 * --http             serves over HTTP on loopback, and prints the URL
 * --port N           the port of --http; default: a free one
 * --revision V       serves only this revision; default: all
 * --hostile-names    adds a tool, a prompt, a resource and a template whose names and descriptions would control a terminal
 * --legacy-questions adds a tool that fails on 2026-07-28, as those of servers that cannot ask their user there
 * --log FILE         appends a JSON line for each event: started, and what the handlers record
 */
const { values } = parseArgs({
  options: {
    http: { type: "boolean", default: false },
    port: { type: "string", default: "0" },
    revision: { type: "string" },
    "hostile-names": { type: "boolean", default: false },
    "legacy-questions": { type: "boolean", default: false },
    log: { type: "string" },
  },
});

const state = { cancelled: 0, counter: 0, added: 0 };

/** @type {import("./tools.mjs").Log} */
const log = (event, details = {}) => {
  if (values.log !== undefined) appendFileSync(values.log, `${JSON.stringify({ event, ...details })}\n`);
};

const server = createServer({
  name: "test-server",
  version: "1.0.0",
  title: "Test server",
  instructions: "Use the tools of the test server.",
  ...(values.revision !== undefined && { revisions: [values.revision] }),
  extensions: [tasks({ pollIntervalMs: 20 })],
  tools: {
    ...plainTools(log),
    ...slowTools(log, state),
    ...askingTools(log),
    ...changingTools(() => server, state),
    ...(values["legacy-questions"] && { ask_legacy: legacyTool }),
  },
  prompts: prompts(),
  resources: resources(log, state),
  onWarning: () => {},
  onError: (error) => log("error", { message: error.message }),
});

server.use(rawEntries({ hasHostileNames: values["hostile-names"] }));
log("started", { pid: process.pid });
if (values.http) {
  const { url, close } = await listen(server, { port: Number(values.port) });
  process.once("SIGTERM", () => void close().then(() => process.exit()));
  process.stdout.write(`${url}\n`);
} else {
  await serveStdio(server);
}
