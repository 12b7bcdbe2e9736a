// @ts-check

/**
 * Reads the settings of a deployment from the environment. Throws an error that names an invalid value.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function readSettings(env) {
  const { HOST = "127.0.0.1", METRICS_PORT } = env;
  return {
    port: readPort("PORT", env.PORT ?? "3000"),
    host: HOST,
    allowedHosts: list(env.ALLOWED_HOSTS),
    allowedOrigins: list(env.ALLOWED_ORIGINS),
    trustProxy: env.TRUST_PROXY,
    metricsPort: METRICS_PORT === undefined ? undefined : readPort("METRICS_PORT", METRICS_PORT),
    redisUrl: env.REDIS_URL,
    stateKeys: env.STATE_KEYS === undefined ? undefined : list(env.STATE_KEYS).map(readKey),
  };
}

/** @param {string} name @param {string} value */
function readPort(name, value) {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`${name} must be a number from 0 to 65535; got ${JSON.stringify(value)}.`);
}

/** @param {string | undefined} value */
function list(value) {
  return (value ?? "").split(",").flatMap((part) => part.trim() || []);
}

/** @param {string} text @param {number} index */
function readKey(text, index) {
  const key = Buffer.from(text, "base64");
  if (key.length === 32) return new Uint8Array(key);
  throw new Error(`STATE_KEYS must contain keys of 32 bytes in base64; key ${index + 1} has ${key.length} bytes.`);
}
