import { type Client, type JsonObject, MetaKey } from "../library.ts";
import { isNotification } from "../../support/raw-message.ts";
import { type RawPeer, modernMeta, rawPeer } from "../../support/raw-peer.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import type { World } from "./world.ts";

/** Returns the capabilities that a server declared. */
export async function declaredBy(world: World, peer: RawPeer): Promise<Record<string, JsonObject | undefined>> {
  const said = world.isModern ? (await peer.request("server/discover")).result : peer.opened;
  return said?.capabilities as Record<string, JsonObject>;
}

/** Another client of the server that was served last, in memory and with a separate session. */
export async function anotherPeer(world: World, capabilities: JsonObject = {}): Promise<RawPeer> {
  const { version } = world;
  const meta = world.isModern ? { meta: modernMeta(version, capabilities) } : {};
  const peer = await rawPeer(world.server, { version, capabilities, ...meta });
  if (!world.isModern) await peer.initialize();
  return peer;
}

/** The wanted changes, in the form of the newest revision. */
export interface Wanted {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  resourceSubscriptions?: string[];
}

/** Subscribes a peer to changes, as the revision defines it. */
export async function listenTo(world: World, peer: RawPeer, wanted: Wanted): Promise<void> {
  if (world.isModern) {
    peer.start("subscriptions/listen", { notifications: wanted });
    await peer.nextNotification("notifications/subscriptions/acknowledged");
    return;
  }
  for (const uri of wanted.resourceSubscriptions ?? []) await peer.request("resources/subscribe", { uri });
  await peer.settled();
}

/** Returns the number of received notifications of a method. */
export async function notificationCount(peer: RawPeer, method: string): Promise<number> {
  await peer.settled();
  return peer.received.filter((message) => isNotification(message) && message.method === method).length;
}

/** Starts a subscription that the server accepts completely. Returns it, and a function that sends changes. */
export async function clientListens(
  world: World,
  { client, server }: { client: Client; server: ScriptedServer },
  ...[filter, onChange]: [Parameters<Client["listen"]>[0], Parameters<Client["listen"]>[1]]
): Promise<{ subscription: Awaited<ReturnType<Client["listen"]>>; tell: ScriptedServer["notify"] }> {
  const listening = client.listen(filter, onChange);
  if (!world.isModern)
    return { subscription: await listening, tell: (method, params) => server.notify(method, params) };
  const request = await server.request("subscriptions/listen");
  const _meta = { [MetaKey.subscriptionId]: request.id };
  const { notifications } = request.params;
  server.notify("notifications/subscriptions/acknowledged", { _meta, notifications }, request);
  return {
    subscription: await listening,
    tell: (method, params = {}) => server.notify(method, { ...params, _meta }, request),
  };
}
