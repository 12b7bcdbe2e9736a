/** The parts of undici that send requests. `scripts/bundle.mjs` bundles them, because the whole package takes four times as long to load. */
export { default as buildConnector } from "undici/lib/core/connect.js";
export { default as Client } from "undici/lib/dispatcher/client.js";
