import { boundedQueue } from "../../rpc/bounded-queue.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonRpcNotification } from "../../rpc/messages.ts";
import { isCustom } from "../../mcp/custom-notifications.ts";
import { loggingLevels } from "../../mcp/logging.ts";
import { Notification } from "../../mcp/methods.ts";
import { guarded } from "../../rpc/guarded.ts";
import type { ClientCore } from "../core.ts";
import { loadLegacy } from "../legacy/load.ts";
import type { ClientConnection, ConnectionHandlers } from "./client-connection.ts";

/** Maximum number of custom notifications that wait for the handler. Further ones are dropped. */
const maxWaiting = 100;

/** Makes the handlers for the messages and the states of the client's connections. */
export function serverMessages(core: ClientCore): ConnectionHandlers {
  const { options, report } = core;
  const why = `More than ${maxWaiting} notifications of the server wait for onNotification. Later ones are dropped.`;
  const enqueue = boundedQueue({ max: maxWaiting, report, onFull: () => report(new LocalError("too_large", why)) });
  return {
    report,
    waits: () => core.waits.pauseAll(),
    onLost: (reason, connection) => core.subscriptions?.handleLoss(reason, connection),
    onInterrupted: (cause, connection) => {
      if (!cause) forgetLists(core);
      core.subscriptions?.handleInterruption(cause, connection);
    },
    notification(message, connection) {
      handleNotification(core, message, connection);
      const { method, params = {} } = message;
      if (options.onNotification && isCustom(method)) enqueue(() => options.onNotification?.({ method, params }));
    },
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
    const level = loggingLevels.find((name) => name === params.level) ?? "info";
    const { logger, data, ...otherMembers } = params;
    const log = { ...otherMembers, ...(typeof logger === "string" && { logger }), data, level };
    if (onLog) guarded(() => onLog(log), core.report);
    return;
  }
  if (method === Notification.elicitationComplete) {
    return void loadLegacy().then(({ visitsOf }) => visitsOf(core).noteAnnouncement(params.elicitationId));
  }
  if (method === Notification.toolsChanged) core.tools.clear();
  core.cache?.invalidate(method, params);
  core.subscriptions?.handleNotification(message, connection);
}
