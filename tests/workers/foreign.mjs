// @ts-check
import cluster from "node:cluster";
import { runWorkers } from "mcparley/node";

/* A program that is a worker of another program, as in the cluster mode of PM2. */
if (cluster.isPrimary) {
  cluster.fork().once("exit", (code) => (process.exitCode = code));
} else {
  await runWorkers(() => ({ close: async () => {} }));
}
