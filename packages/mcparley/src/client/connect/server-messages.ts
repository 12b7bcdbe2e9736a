import type { JsonRpcNotification } from "../../rpc/messages.ts";
import { loggingLevels } from "../../mcp/logging.ts";
import { Notification } from "../../mcp/methods.ts";
import { guarded } from "../../rpc/guarded.ts";
import type { ClientCore } from "../core.ts";
import { loadLegacy } from "../legacy/load.ts";
import type { ClientConnection, ConnectionHandlers } from "./client-connection.ts";
import { receiveCustom } from "./custom-notifications.ts";

/** Makes the handlers for the messages and the states of the client's connections. */
export function serverMessages(core: ClientCore): ConnectionHandlers {
  return {
    report: (error) => core.report(error),
    waits: () => core.waits.pauseAll(),
    lost: (reason, connection) => core.subscriptions?.lost(reason, connection),
    interrupted: (cause, connection) => {
      if (!cause) forgetLists(core);
      core.subscriptions?.interrupted(cause, connection);
    },
    notification: (message, connection) => handleNotification(core, message, connection),
  };
}

/** Forgets cached results and tools, because notifications of their changes may have been missed. */
export function forgetLists({ cache, tools }: ClientCore): void {
  cache?.forget();
  tools.clear();
}

function handleNotification(core: ClientCore, message: JsonRpcNotification, connection: ClientConnection): void {
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
