import { Cancelled, Declined, LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from "../../rpc/messages.ts";
import { type LoggingMessage, loggingLevels } from "../../mcp/logging.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { Channel, ChannelOwner } from "./connection.ts";
import type { ClientCore } from "../calls/call.ts";

/** What a client does with what its server sends of its own accord. */
export function channelOwner(core: ClientCore): ChannelOwner & { refuseRequests(channel: Channel): void } {
  /** The channels on which a revision is spoken in which servers send no requests. */
  const modern = new WeakSet<Channel>();
  return {
    refuseRequests: (channel) => void modern.add(channel),
    report: (error) => core.report(error),
    notified: (message, channel) => notified(core, message, channel),
    async asked(request, signal, channel) {
      if (!modern.has(channel)) return answer(core, request, signal, channel);
      // It must not be answered either: modern clients send no responses (2026-07-28, basic/transports/stdio).
      const message = `The server sent a request, ${request.method.slice(0, 200)}, which its revision does not allow.`;
      core.report(new LocalError("invalid_message", message));
      return undefined;
    },
  };
}

async function answer(
  { questions, running, asker }: ClientCore,
  { method, params = {} }: JsonRpcRequest,
  signal: AbortSignal,
  channel: Channel,
): Promise<JsonObject> {
  if (method === Method.ping) return {};
  const [call, ...others] = running;
  // Which call it belongs to is not said; with a single one there is no doubt.
  const during = others.length === 0 ? call?.what : undefined;
  const resume = channel.pauseClocks();
  try {
    return await (await questions()).answer(method, params, asker(during, signal));
  } catch (error) {
    if (!(error instanceof Declined || error instanceof Cancelled)) throw error;
    // The code that the specification gives for it (2025-11-25, client/sampling, Error Handling).
    throw new ProtocolError(-1, method === Method.createMessage ? "User rejected sampling request" : error.message);
  } finally {
    resume();
  }
}

function notified(core: ClientCore, message: JsonRpcNotification, channel: Channel): void {
  const { method, params = {} } = message;
  switch (method) {
    case Notification.message:
      return logged(core, params);
    case Notification.elicitationComplete:
      return core.visits.completed(params);
    case Notification.toolsChanged:
      core.tools.clear();
      break;
  }
  core.cache?.notified(method, params);
  core.subscriptions?.notified(message, channel);
}

function logged({ options, report }: ClientCore, params: JsonObject): void {
  const { onLog } = options;
  if (!onLog) return;
  try {
    const level = loggingLevels.find((known) => known === params.level) ?? "info";
    onLog({ ...(params as unknown as LoggingMessage), level });
  } catch (error) {
    report(error);
  }
}
