import { checkCustom, isCustom } from "../../mcp/custom-notifications.ts";
import { type Enqueue, boundedQueue } from "../../rpc/bounded-queue.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject, JsonRpcNotification } from "../../rpc/messages.ts";
import type { ClientCore } from "../core.ts";
import { requireSendable } from "../calls/check-request.ts";

/** Maximum number of custom notifications that wait for the handler. Further ones are dropped. */
const maxWaiting = 100;

/** The notifications that wait for the handler of each client. */
const queues = new WeakMap<ClientCore, Enqueue>();

/** Passes a notification that MCP does not define to the client's `onNotification`, one after another. */
export function receiveCustom(core: ClientCore, { method, params = {} }: JsonRpcNotification): void {
  const { options, report } = core;
  if (!isCustom(method)) return;
  let enqueue = queues.get(core);
  if (!enqueue) {
    const why = `More than ${maxWaiting} notifications of the server wait for onNotification. Later ones are dropped.`;
    enqueue = boundedQueue({ max: maxWaiting, report, onFull: () => report(new LocalError("too_large", why)) });
    queues.set(core, enqueue);
  }
  enqueue(() => options.onNotification?.({ method, params }));
}

/** Sends a notification that MCP does not define. Throws a TypeError for a name that MCP reserves. */
export async function sendCustom(core: ClientCore, method: string, params: JsonObject | undefined): Promise<void> {
  checkCustom(method, params);
  requireSendable({ what: method, params: params ?? {} });
  (await core.sessions.ensure()).connection.sendNotification(method, params);
}
