import { types } from "node:util";

const fetchOfNode = globalThis.fetch;
let send: typeof defaultFetch | undefined;

/**
 * Sends requests with `node:http`, because the `fetch` of Node ends a response that is silent for five minutes.
 *
 * If the program has replaced `fetch`, or its global dispatcher to use a proxy or certificates, sends requests with `fetch`.
 */
export function defaultFetch(url: URL, init: RequestInit): Promise<Response> {
  if (globalThis.fetch !== fetchOfNode || hasDispatcher()) return fetch(url, init);
  if (send) return send(url, init);
  return import("./http-fetch.ts").then(({ httpFetch }) => (send = httpFetch())(url, init));
}

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
