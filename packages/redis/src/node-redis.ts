import type { Connection, Messages, NodeRedisClient, Receiver } from "./connection.ts";

interface CommandOptions {
  /** Milliseconds after which an unsent command is dropped. */
  timeout: number;
  /** Always empty, so that replies are strings even if the client has a custom type mapping. */
  typeMapping: object;
}

type Listener = (message: string, channel: string) => void;

interface Subscriber {
  on(event: string, listener: (...args: never[]) => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel: string, listener: Listener): Promise<unknown>;
  sSubscribe(channel: string, listener: Listener): Promise<unknown>;
  sUnsubscribe(channel: string, listener: Listener): Promise<unknown>;
  destroy(): unknown;
  duplicate(overrides: object): Subscriber;
}

type Send = (key: string | undefined, command: readonly string[], options: CommandOptions) => Promise<unknown>;

/** Milliseconds between pings on a connection that receives messages. */
const pingInterval = 10_000;

/** Returns a connection that uses a client of the package `redis`. The client never resends a command, so no copy is needed. */
export function nodeRedisConnection(client: NodeRedisClient, isSharded: () => Promise<boolean>): Connection {
  const isCluster = "nodeByAddress" in client;
  const send = sender(client, isCluster);
  const subscribers = new Set<Subscriber>();

  return {
    isCluster,
    send(key, command, timeLeft) {
      if (!client.isOpen) {
        return Promise.reject(new Error("the client was closed, or never connected: await its connect() first"));
      }
      return send(key, command, { timeout: Math.ceil(timeLeft), typeMapping: {} });
    },
    async receive(receiver) {
      // The public type names only the members that identify the package.
      const subscriber = (client as unknown as Subscriber).duplicate(isCluster ? {} : { pingInterval });
      subscribers.add(subscriber);
      return receive(subscriber, receiver, isCluster && (await isSharded()));
    },
    async close() {
      for (const subscriber of subscribers) await subscriber.destroy();
      subscribers.clear();
    },
  };
}

/** Returns the send function for a kind of client: the parameters before the command differ. None reads from a replica. */
function sender(client: NodeRedisClient, isCluster: boolean): Send {
  const sendCommand = client.sendCommand.bind(client) as (...args: unknown[]) => Promise<unknown>;
  if (isCluster) return (key, command, options) => sendCommand(key, false, command, options);
  if ("getSentinelNode" in client) return (_key, command, options) => sendCommand(false, command, options);
  return (_key, command, options) => sendCommand(command, options);
}

async function receive(subscriber: Subscriber, receiver: Receiver, isSharded: boolean): Promise<Messages> {
  let isFirst = true;
  const ready = (): void => {
    if (!isFirst) receiver.onMissed();
  };
  // The client reconnects automatically. It has subscribed to its channels again before it emits these events.
  for (const event of ["ready", "node-ready", "topology-change"]) subscriber.on(event, ready);
  subscriber.on("error", () => {});
  await subscriber.connect();
  isFirst = false;
  const listener: Listener = (message, channel) => receiver.message(channel, message);
  const [subscribe, unsubscribe] = isSharded
    ? (["sSubscribe", "sUnsubscribe"] as const)
    : (["subscribe", "unsubscribe"] as const);
  return {
    subscribe: async (channel) => void (await subscriber[subscribe](channel, listener)),
    unsubscribe: async (channel) => void (await subscriber[unsubscribe](channel, listener)),
    close: async () => void (await subscriber.destroy()),
  };
}
