// @ts-check

/*
 * Limits and timeouts of the soak's server. They are lower than the defaults if an attack could not reach the default
 * within seconds. The other limits are the defaults.
 */

export const limits = {
  requests: 300,
  inFlight: 64,
  bodies: 48 * 1024 * 1024,
  listenStreams: 100,
  /** Milliseconds. */
  askTimeout: 3_000,
  /** Milliseconds. */
  stateTtl: 3_000,
};

/** Milliseconds, and the number of sessions. */
export const sessions = { idle: 4_000, handshake: 2_000, max: 300 };

/** Milliseconds. `bodyTimeout` ends a slow body before `requestTimeout` does. */
export const timeouts = { headersTimeout: 2_000, bodyTimeout: 2_000, requestTimeout: 6_000, keepAliveTimeout: 3_000 };

/** Only completions are limited, because the ordinary visitors make more calls of tools than any sensible limit allows. */
export const rate = { perSecond: 100, burst: 100, methods: ["completion/complete"] };

/** Milliseconds within which an ordinary visitor's call must be answered during the attack. */
export const patience = 5_000;

/** Default limits that the attackers go up to. */
export const defaults = {
  maxBody: 4 * 1024 * 1024,
  sessionSize: 65_536,
  subscriptions: 1_000,
  uriLength: 2_048,
  idLength: 1_024,
  completionLength: 1_024,
  depth: 64,
  elements: 100_000,
  batch: 100,
};
