import { LocalError } from "../../rpc/errors.ts";
import type { JsonRpcNotification } from "../../rpc/messages.ts";
import { loggingLevels } from "../../mcp/logging.ts";
import { Notification } from "../../mcp/methods.ts";
import { guarded } from "../../rpc/guarded.ts";
import type { ClientCore } from "../core.ts";
import { loadLegacy } from "../legacy/load.ts";
import type { Connection, ConnectionHandlers } from "./connection.ts";
import { receiveCustom } from "./custom-notifications.ts";

/** The connection handlers of a client: answers to requests of the server, and the effects of its notifications. */
export function serverMessages(
  core: ClientCore,
): ConnectionHandlers & { refuseRequests(connection: Connection): void } {
  /** The connections with a modern revision, in which servers send no requests. */
  const modern = new WeakSet<Connection>();
  return {
    refuseRequests: (connection) => void modern.add(connection),
    report: (error) => core.report(error),
    waits: () => core.waits.pauseAll(),
    lost: (reason, connection) => core.subscriptions?.lost(reason, connection),
    interrupted: (cause, connection) => {
      if (!cause) forgetLists(core);
      core.subscriptions?.interrupted(cause, connection);
    },
    notification: (message, connection) => handleNotification(core, message, connection),
    async request(request, signal, connection) {
      if (!modern.has(connection)) {
        const { answerRequest } = await loadLegacy();
        return answerRequest(core, request, { signal, connection });
      }
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

function handleNotification(core: ClientCore, message: JsonRpcNotification, connection: Connection): void {
  const { method, params = {} } = message;
  if (method === Notification.message) {
    const { onLog } = core.options;
    const level = loggingLevels.find((known) => known === params.level) ?? "info";
    const { logger, data, ...others } = params;
    const log = { ...others, ...(typeof logger === "string" && { logger }), data, level };
    if (onLog) guarded(() => onLog(log), core.report);
    return;
  }
  if (method === Notification.elicitationComplete) {
    return void loadLegacy().then(({ visitsOf }) => visitsOf(core).announced(params.elicitationId));
  }
  if (method === Notification.toolsChanged) core.tools.clear();
  core.cache?.invalidate(method, params);
  core.subscriptions?.notified(message, connection);
  if (core.options.onNotification) receiveCustom(core, message);
}
