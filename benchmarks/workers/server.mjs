// @ts-check
import cluster from "node:cluster";
import { listen, runWorkers } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";

/*
 * The server of `benchmarks/workers.mjs`. Its argument is the number of workers, or 0 for one process without a store. It
 * sends its URL to its parent process when it listens, and its CPU time in microseconds when it receives "cpu".
 */
const workers = Number(process.argv[2] ?? 0);

const text = z.object({ text: z.string() });
const echo = tool({ description: "Says what it is told.", input: text, call: ({ text }) => text });
const work = tool({
  description: "Uses 5 ms of CPU time.",
  input: text,
  call: ({ text }) => {
    // CPU time and not time, which would pass while another process uses the core.
    const end = ownCpu() + 5_000;
    while (ownCpu() < end);
    return text;
  },
});

/** @param {import("mcparley/server").Store} [store] */
function start(store) {
  const server = createServer({ name: "bench", version: "1.0.0", tools: { echo, work }, ...(store && { store }) });
  return listen(server, { port: 0 });
}

function ownCpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Asks a worker for its CPU time. @param {import("node:cluster").Worker} worker @returns {Promise<number>} */
function cpuOf(worker) {
  return new Promise((resolve) => {
    const onMessage = (/** @type {any} */ message) => {
      if (message.cpu === undefined) return;
      worker.off("message", onMessage);
      resolve(message.cpu);
    };
    worker.on("message", onMessage);
    worker.send("cpu");
  });
}

async function allCpu() {
  const others = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker ? [cpuOf(worker)] : []));
  return (await Promise.all(others)).reduce((sum, cpu) => sum + cpu, ownCpu());
}

process.on("message", (message) => {
  if (message !== "cpu") return;
  if (cluster.isWorker) process.send?.({ cpu: ownCpu() });
  else void allCpu().then((cpu) => process.send?.({ cpu }));
});

if (workers === 0) process.send?.({ url: (await start()).url });
else await runWorkers(({ store }) => start(store), { workers, onReady: ({ url }) => process.send?.({ url }) });
