import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from "../../rpc/messages.ts";
import { type LoggingMessage, loggingLevels } from "../../mcp/logging.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { ClientCore } from "../calls/call.ts";
import type { Connection, ConnectionHandlers } from "./connection.ts";

/** The number of completed URL visits that are remembered before their call expects them. */
const maxEarly = 100;

/** The visits to URLs whose completion the server announces, by their id (2025-11-25, client/elicitation). */
export class UrlVisits {
  readonly #expected = new Map<unknown, () => void>();
  /** The announcement may arrive before the refusal of the call that needs the visit. */
  readonly #early = new Set<unknown>();

  /** Returns a promise that settles when the server announces that the visit is complete. */
  expect(id: string): Promise<void> {
    if (this.#early.delete(id)) return Promise.resolve();
    return new Promise((resolve) => this.#expected.set(id, resolve));
  }

  cancel(id: string): void {
    this.#expected.delete(id);
  }

  completed({ elicitationId: id }: JsonObject): void {
    const settle = this.#expected.get(id);
    if (settle) return settle();
    this.#early.add(id);
    if (this.#early.size > maxEarly) this.#early.delete(this.#early.values().next().value);
  }
}

/** The connection handlers of a client: answers to requests of the server, and the effects of its notifications. */
export function serverMessages(
  core: ClientCore,
): ConnectionHandlers & { refuseRequests(connection: Connection): void } {
  /** The connections with a modern revision, in which servers send no requests. */
  const modern = new WeakSet<Connection>();
  return {
    refuseRequests: (connection) => void modern.add(connection),
    report: (error) => core.report(error),
    lost: (reason, connection) => core.subscriptions?.lost(reason, connection),
    interrupted: (cause, connection) => {
      if (!cause) forgetLists(core);
      core.subscriptions?.interrupted(cause, connection);
    },
    notification: (message, connection) => handleNotification(core, message, connection),
    async request(request, signal, connection) {
      if (!modern.has(connection)) return handleRequest(core, request, { signal, connection });
      // No response is sent: modern clients send none (2026-07-28, basic/transports/stdio).
      const message = `The server sent a request, ${request.method.slice(0, 200)}, which its revision does not allow.`;
      core.report(new LocalError("invalid_message", message));
      return undefined;
    },
  };
}

/** Forgets cached results and tools, because notifications of their changes may have been missed. */
export function forgetLists({ cache, tools }: ClientCore): void {
  cache?.forget();
  tools.clear();
}

async function handleRequest(
  core: ClientCore,
  { method, params = {} }: JsonRpcRequest,
  { signal, connection }: { signal: AbortSignal; connection: Connection },
): Promise<JsonObject> {
  if (method === Method.ping) return {};
  const [call, ...others] = core.running;
  // A legacy request does not name its call. It is only known if a single call is in flight.
  const during = others.length === 0 ? call?.what : undefined;
  const resume = connection.pauseTimeouts();
  try {
    const answer = await core.inputRequests();
    return await answer(method, params, core.asker(during, signal));
  } catch (error) {
    if (!(error instanceof Declined || error instanceof Cancelled)) throw error;
    // The code that the specification defines for it (2025-11-25, client/sampling, Error Handling).
    throw new ProtocolError(-1, method === Method.createMessage ? "User rejected sampling request" : error.message);
  } finally {
    resume();
  }
}

function handleNotification(core: ClientCore, message: JsonRpcNotification, connection: Connection): void {
  const { method, params = {} } = message;
  if (method === Notification.message) return handleLog(core, params);
  if (method === Notification.elicitationComplete) return core.visits.completed(params);
  if (method === Notification.toolsChanged) core.tools.clear();
  core.cache?.invalidate(method, params);
  core.subscriptions?.notified(message, connection);
}

function handleLog({ options, report }: ClientCore, params: JsonObject): void {
  const { onLog } = options;
  if (!onLog) return;
  try {
    const level = loggingLevels.find((known) => known === params.level) ?? "info";
    onLog({ ...(params as unknown as LoggingMessage), level });
  } catch (error) {
    report(error);
  }
}
