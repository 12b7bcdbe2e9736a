import type { JsonObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Channel } from "../connect/connection.ts";
import type { Connection } from "../connect/session.ts";
import type { ClientCore } from "../calls/call.ts";
import { type Ended, type ListenFilter, type Listening, listKinds } from "./subscription.ts";

/**
 * Opens a subscription on a legacy session: changes of lists come without being asked for, where the server has
 * declared that it tells of them, and each resource is subscribed to.
 */
export async function listenLegacy(
  core: ClientCore,
  listening: Listening,
  { channel, server }: Connection,
  { life, signal, others }: { life: AbortSignal; signal: AbortSignal; others: () => Iterable<Listening> },
): Promise<Ended> {
  const { capabilities } = server;
  const acknowledged: ListenFilter = {};
  for (const kind of listKinds) {
    if (listening.wanted[kind] && capabilities[kind]?.listChanged) acknowledged[kind] = true;
  }
  const { uris } = listening.wanted;
  if (uris && capabilities.resources?.subscribe) {
    for (const uri of uris) await send(core, Method.subscribe, uri, { channel, signal });
    acknowledged.uris = uris;
  }
  listening.acknowledged = acknowledged;
  const over = new Promise<void>((resolve) => {
    life.addEventListener("abort", () => resolve(), { once: true });
  });
  const ended = Promise.race([over, channel.lost.then((reason) => Promise.reject(reason))]).finally(() => {
    unsubscribe(core, listening, channel, others());
  });
  ended.catch(() => {});
  return { ended };
}

/** Unsubscribes from what no other subscription wants. */
function unsubscribe(core: ClientCore, listening: Listening, channel: Channel, others: Iterable<Listening>): void {
  listening.channel = undefined;
  if (!channel.isOpen) return;
  const unwanted = new Set(listening.acknowledged.uris);
  for (const other of others) {
    if (other !== listening && other.channel === channel)
      for (const uri of other.wanted.uris ?? []) unwanted.delete(uri);
  }
  for (const uri of unwanted) {
    send(core, Method.unsubscribe, uri, { channel }).catch((error: unknown) => core.report(error));
  }
}

function send(
  { options }: ClientCore,
  method: string,
  uri: string,
  { channel, signal }: { channel: Channel; signal?: AbortSignal },
): Promise<JsonObject> {
  const what = `${method} ${JSON.stringify(uri.slice(0, 200))}`;
  return channel.request(method, { uri }, { what, idleTimeout: options.timeout?.idle ?? 60_000, signal });
}
