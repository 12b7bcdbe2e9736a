import { isCustom } from "../../mcp/custom-notifications.ts";
import { type Enqueue, boundedQueue } from "../../rpc/bounded-queue.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonRpcNotification } from "../../rpc/messages.ts";
import { checkParams } from "../dispatch/dispatch.ts";
import type { ClientSession } from "../core/context.ts";
import type { ServerCore } from "../core/server-core.ts";

/** Maximum number of custom notifications of one session that wait for the handler. Further ones are dropped. */
const maxWaiting = 100;

/** The notifications that wait for the handler, by session. Modern revisions have no sessions, and one queue per server. */
const queues = new WeakMap<object, Enqueue>();

/** Passes a notification that MCP does not define to the server's `onNotification`, one after another for each session. */
export function receiveCustom(
  core: ServerCore,
  { method, params = {} }: JsonRpcNotification,
  session: ClientSession | undefined,
): void {
  const { onNotification } = core.definition;
  if (!onNotification || !isCustom(method)) return;
  const report = (error: unknown): void => core.report(error, undefined);
  try {
    checkParams(params, core.limits);
  } catch (error) {
    return report(error);
  }
  const onFull = (): void => {
    const why = `More than ${maxWaiting} custom notifications of a client wait for onNotification. Later ones are dropped.`;
    report(new LocalError("too_large", why));
  };
  const key = session ?? core;
  let enqueue = queues.get(key);
  if (!enqueue) {
    enqueue = boundedQueue({ max: maxWaiting, report, onFull });
    queues.set(key, enqueue);
  }
  enqueue(() => onNotification({ method, params }, session));
}
