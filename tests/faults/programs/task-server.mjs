// A server with a task that may run again, and a store in a folder. Its first run never ends: the test kills the process.
import { setTimeout as sleep } from "node:timers/promises";
import { fileStore, listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { asTask, tasks } from "mcparley/tasks";

const [folder, transport] = process.argv.slice(2);

const build = tool({
  description: "Builds in two steps.",
  extensions: [asTask({ runAgain: true })],
  call: async (_, ctx) => {
    const first = await ctx.once("first", () => process.pid);
    const isFirst = first === process.pid;
    ctx.progress(isFirst ? 1 : 2, 2, `process ${process.pid}`);
    if (isFirst) await sleep(2 ** 30, undefined, { signal: ctx.signal });
    return `begun by ${first}`;
  },
});

const server = createServer({
  name: "builds",
  version: "1.0.0",
  store: fileStore(folder),
  tools: { build },
  extensions: [tasks({ lease: 1000, pollIntervalMs: 50 })],
});
if (transport === "stdio") await serveStdio(server);
else process.stdout.write(`${(await listen(server, { port: 0 })).url}\n`);
