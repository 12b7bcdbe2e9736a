// @ts-check
import { redisStore } from "@mcparley/redis";
import { listen } from "mcparley/node";
import { jsonLogger } from "mcparley/server";
import { createClient } from "redis";
import { makeServer } from "./server.mjs";
import { readSettings } from "./settings.mjs";

const settings = readSettings(process.env);
const { port, host, allowedHosts, allowedOrigins, trustProxy, metricsPort, redisUrl, stateKeys } = settings;
const logger = jsonLogger({ fields: { pid: process.pid } });
const redis = redisUrl === undefined ? undefined : await connectRedis(redisUrl);
const store = redis && redisStore({ client: redis });
const meterProvider = metricsPort === undefined ? undefined : await startMetrics(metricsPort);

const running = await listen(makeServer({ logger, meterProvider, stateKeys, store }), {
  port,
  host,
  ...(allowedHosts.length > 0 && { allowedHosts }),
  ...(allowedOrigins.length > 0 && { allowedOrigins, cors: true }),
  ...(trustProxy && { trustProxy }),
  // Milliseconds for each of `drain` and `close`.
  closeTimeout: 15_000,
});
logger.info({ url: running.url }, "listening");

/** @type {Promise<void> | undefined} */
let stopping;
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void (stopping ??= stop(signal)));

/** @param {string} signal */
async function stop(signal) {
  logger.info({ signal }, "draining");
  // Answers requests while `/readyz` is 503, so that the load balancer can stop sending new ones.
  await running.drain();
  logger.info({}, "closing");
  await running.close();
  // The store closes its own connections only. The Redis client belongs to this program.
  await store?.close();
  redis?.destroy();
  await meterProvider?.shutdown();
  logger.info({}, "ended");
}

/** @param {number} metricsPort */
async function startMetrics(metricsPort) {
  // OpenTelemetry is loaded only by processes that use it.
  const { serveMetrics } = await import("./metrics.mjs");
  return serveMetrics({ host, port: metricsPort });
}

/** @param {string} url */
async function connectRedis(url) {
  const client = createClient({ url });
  client.on("error", (error) => logger.error({ err: String(error) }, "redis"));
  await client.connect();
  return client;
}
