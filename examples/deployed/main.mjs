// @ts-check
import { redisStore } from "@mcparley/redis";
import { listen } from "mcparley/node";
import { createClient } from "redis";
import { makeServer } from "./server.mjs";
import { readSettings } from "./settings.mjs";

const { port, host, allowedHosts, allowedOrigins, trustProxy, redisUrl, stateKeys } = readSettings(process.env);
const redis = redisUrl === undefined ? undefined : await connectRedis(redisUrl);
const store = redis && redisStore({ client: redis });

const listening = await listen(makeServer({ stateKeys, store }), {
  port,
  host,
  ...(allowedHosts.length > 0 && { allowedHosts }),
  ...(allowedOrigins.length > 0 && { allowedOrigins, cors: true }),
  ...(trustProxy && { trustProxy }),
  // Milliseconds for each of `drain` and `close`.
  closeTimeout: 15_000,
});
process.stdout.write(`${listening.url}\n`);

for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT"])) process.once(signal, () => void stop());

async function stop() {
  // Answers requests while `/readyz` is 503, so that the load balancer can stop sending new ones.
  await listening.drain();
  await listening.close();
  // The store closes its own connections only. The Redis client belongs to this program.
  await store?.close();
  redis?.destroy();
}

/** @param {string} url */
async function connectRedis(url) {
  const client = createClient({ url });
  client.on("error", (error) => process.stderr.write(`${JSON.stringify({ level: "error", msg: String(error) })}\n`));
  await client.connect();
  return client;
}
