import { types } from "node:util";
import type { Send, Sending } from "../http/client/reply.ts";
import type { HttpConnection, HttpTarget } from "../http/client/settings.ts";
import { LocalError } from "../rpc/errors.ts";
import { createController, platformSignal } from "./http-client/quick-abort.ts";

const fetchOfNode = globalThis.fetch;

/**
 * Returns the functions that send the requests to a target.
 *
 * The default sends them with undici, because the `fetch` of Node takes several times as much CPU time, and ends a response
 * that is silent for five minutes. If the program has replaced `fetch`, or its global dispatcher to use a proxy or
 * certificates, it sends them with `fetch`, unless the target has connection settings.
 *
 * Throws `LocalError` `invalid_target` for a target with both `fetch` and `connection`.
 */
export function sendingFor({ fetch: customFetch, connection }: HttpTarget): Sending {
  if (customFetch && connection) {
    const message =
      "A target has the options fetch and connection. Omit one of them, and let your fetch use the proxy and the certificates.";
    throw new LocalError("invalid_target", message);
  }
  if (customFetch) return { send: customFetch, createController: () => new AbortController() };
  return { send: connection ? undiciSender(connection) : defaultSend, createController };
}

type WaitingSend = Send & Required<Pick<Send, "turn">>;

/** Returns a function that sends requests with undici. Its code is loaded with the first one. */
function undiciSender(connection?: HttpConnection): WaitingSend {
  let sender: Send | undefined;
  const send: WaitingSend = (url, init) => {
    if (sender) return sender(url, init);
    return import("./http-client/sender.ts").then(({ createSender }) =>
      (sender ??= createSender({ connection }))(url, init),
    );
  };
  send.turn = (url, signal) => sender?.turn?.(url, signal) ?? Promise.resolve();
  return send;
}

/** Sends the requests of all targets without connection settings. */
const sharedSend = undiciSender();

const defaultSend: WaitingSend = (url, init) => {
  if (globalThis.fetch !== fetchOfNode || hasDispatcher()) {
    return fetch(url, init.signal ? { ...init, signal: platformSignal(init.signal) } : init);
  }
  return sharedSend(url, init);
};
/** Only requests through undici wait: `fetch` has no limit of connections. */
defaultSend.turn = sharedSend.turn;

let checkedDispatcher: object | undefined;
let isCustom = false;

/** Returns whether the program has set a dispatcher for `fetch`. Node sets a default one when `fetch` is first used. */
function hasDispatcher(): boolean {
  const globals = globalThis as { [name: symbol]: object | undefined };
  // The second name is the one of Node 24 and later.
  const current = globals[Symbol.for("undici.globalDispatcher.2")] ?? globals[Symbol.for("undici.globalDispatcher.1")];
  if (current !== checkedDispatcher) {
    checkedDispatcher = current;
    isCustom = current !== undefined && !isDefault(current);
  }
  return isCustom;
}

/** Returns whether a dispatcher is an `Agent` of undici without connection options. The default dispatcher of Node is one. */
function isDefault(dispatcher: object): boolean {
  if (dispatcher.constructor.name !== "Agent" || types.isProxy(dispatcher)) return false;
  const key = Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === "options");
  const options = key && (dispatcher as Record<symbol, { connect?: unknown } | undefined>)[key];
  return options?.connect === undefined;
}
