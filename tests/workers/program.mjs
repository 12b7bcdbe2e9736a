// @ts-check
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { listen, runWorkers, toNodeHandler } from "mcparley/node";
import { createServer, resource, tool } from "mcparley/server";
import { asTask, tasks } from "mcparley/tasks";
import { z } from "zod";

/*
 * A server in two worker processes. A worker prints a line of JSON when it listens: the URL of the port that all share, and
 * that of a port of its own, with which a test chooses the worker.
 *
 * Environment: FAILS is the number of a worker that cannot start, and EXITS of one whose process ends while it starts; PORT is
 * the shared port (any).
 */
const { FAILS, EXITS, PORT = "0" } = process.env;

/** @param {object} line */
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** A promise, and the function that resolves it. */
function gate() {
  /** @type {() => void} */
  let open = () => {};
  return {
    opened: new Promise((/** @type {(value: void) => void} */ resolve) => (open = resolve)),
    open: () => open(),
  };
}

/** @param {import("mcparley/node").WorkerContext} context */
async function start({ store, worker, restarts }) {
  if (FAILS === String(worker)) throw Object.assign(new Error("The database is down."), { code: "ECONNREFUSED" });
  if (EXITS === String(worker)) process.exit(7);
  const closing = gate();
  const released = gate();
  const schema = z.object({ word: z.string() });
  const server = createServer({
    name: "workers",
    version: "1.0.0",
    store,
    extensions: [tasks({ pollIntervalMs: 20 })],
    resources: { note: resource("note://{id}", { read: ({ id }) => `Note ${id}` }) },
    tools: {
      who: tool({ call: () => String(worker) }),
      change: tool({
        call: () => {
          server.resources.updated("note://1");
          return "changed";
        },
      }),
      ask: tool({ call: async (_, ctx) => `${(await ctx.elicit({ message: "A word?", schema })).word} at ${worker}` }),
      work: tool({
        extensions: [asTask()],
        call: async () => {
          await released.opened;
          return `done by ${worker}`;
        },
      }),
      release: tool({
        call: () => {
          released.open();
          return "released";
        },
      }),
      untilClosed: tool({
        call: async (_, ctx) => {
          ctx.progress(1);
          await closing.opened;
          return "finished";
        },
      }),
    },
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  const shared = await listen(server, { port: Number(PORT) });
  const handler = toNodeHandler(server, { path: "/mcp", health: true });
  const own = createHttpServer(handler).listen({ port: 0, host: "127.0.0.1", exclusive: true });
  await once(own, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (own.address());
  const line = { worker, restarts, pid: process.pid, shared: shared.url, own: `http://127.0.0.1:${port}/mcp` };
  print(line);
  return {
    url: shared.url,
    close: async () => {
      closing.open();
      await Promise.all([shared.close(), handler.close()]);
      own.close();
      own.closeAllConnections();
    },
  };
}

await runWorkers(start, { workers: 2, onReady: ({ url }) => print({ ready: url }) });
print({ closed: process.pid });
