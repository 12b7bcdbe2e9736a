import { types } from "node:util";
import type { Send } from "../http/client/reply.ts";
import { platformSignal } from "./http-client/quick-abort.ts";

export { createController } from "./http-client/quick-abort.ts";

const fetchOfNode = globalThis.fetch;
let send: Send | undefined;

/**
 * Sends requests with undici, because the `fetch` of Node takes several times as much CPU time, and ends a response that is
 * silent for five minutes.
 *
 * If the program has replaced `fetch`, or its global dispatcher to use a proxy or certificates, sends requests with `fetch`.
 */
export const defaultSend: Send = (url, init) => {
  if (globalThis.fetch !== fetchOfNode || hasDispatcher()) {
    return fetch(url, init.signal ? { ...init, signal: platformSignal(init.signal) } : init);
  }
  if (send) return send(url, init);
  return import("./http-client/sender.ts").then(({ createSender }) => (send ??= createSender())(url, init));
};
/** `fetch` has no limit of connections. */
defaultSend.turn = (url, signal) => send?.turn?.(url, signal) ?? Promise.resolve();

let checked: object | undefined;
let isCustom = false;

/** Returns whether the program has set a dispatcher for `fetch`. Node sets a default one when `fetch` is first used. */
function hasDispatcher(): boolean {
  const globals = globalThis as { [name: symbol]: object | undefined };
  // The second name is the one of Node 24 and later.
  const current = globals[Symbol.for("undici.globalDispatcher.2")] ?? globals[Symbol.for("undici.globalDispatcher.1")];
  if (current !== checked) {
    checked = current;
    isCustom = current !== undefined && !isDefault(current);
  }
  return isCustom;
}

/** Returns whether a dispatcher is an `Agent` of undici without connection options, as that of Node is. */
function isDefault(dispatcher: object): boolean {
  if (dispatcher.constructor.name !== "Agent" || types.isProxy(dispatcher)) return false;
  const key = Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === "options");
  const options = key && (dispatcher as Record<symbol, { connect?: unknown } | undefined>)[key];
  return options?.connect === undefined;
}
