import type { Connection, IoredisClient, Messages, Receiver } from "./connection.ts";

/** The members used of an ioredis client. */
interface Ioredis {
  on(event: string, listener: (...args: never[]) => void): unknown;
  call(command: string, ...args: string[]): Promise<unknown>;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  disconnect(): void;
  duplicate(...args: object[]): Ioredis;
}

/**
 * Returns a connection that uses a client of the package `ioredis`. By default, ioredis resends commands after a reconnect
 * and queues unsent commands without a time limit. Commands are therefore sent over a duplicate with both features off.
 */
export function ioredisConnection(client: IoredisClient, isSharded: () => Promise<boolean>): Connection {
  const isCluster = "nodes" in client;
  const copies = new Set<Ioredis>();
  const open = (overrides: object): Ioredis => {
    // The public type names only the members that identify the package.
    const original = client as unknown as Ioredis;
    const copy = isCluster ? original.duplicate([], overrides) : original.duplicate(overrides);
    copies.add(copy);
    return copy;
  };
  let commands: Ioredis | undefined;
  let failure: (() => Error | undefined) | undefined;

  return {
    isCluster,
    send(_key, [name = "", ...args]) {
      if (!commands) {
        commands = open(isCluster ? clusterCommands : singleCommands);
        failure = connectionFailure(commands);
      }
      return commands.call(name, ...args).catch((error: unknown) => {
        throw (isNotConnected(error) && failure?.()) || error;
      });
    },
    async receive(receiver) {
      if (!isCluster) return receive(quiet(open({ ...always, autoResubscribe: true })), receiver);
      const shardedSubscribers = await isSharded();
      return receiveFromCluster(quiet(open({ ...always, shardedSubscribers })), receiver, shardedSubscribers);
    },
    async close() {
      for (const copy of copies) copy.disconnect();
      copies.clear();
    },
  };
}

/** Returns a function that returns the reason why a client has no connection, if it is known. */
function connectionFailure(client: Ioredis): () => Error | undefined {
  let failure: Error | undefined;
  client.on("error", (error: Error & { lastNodeError?: Error }) => (failure = error.lastNodeError ?? error));
  client.on("ready", () => (failure = undefined));
  return () => failure;
}

/** Returns whether a command failed because there is no connection. The error of the connection has the reason. */
function isNotConnected(error: unknown): boolean {
  return error instanceof Error && /enableOfflineQueue|Connection is closed|slots cache/i.test(error.message);
}

/** Ignores the error events of a client. An error event without a listener would be written to the console. */
function quiet(client: Ioredis): Ioredis {
  client.on("error", () => {});
  return client;
}

const always = { lazyConnect: false, keyPrefix: "" };
const noResend = { maxRetriesPerRequest: 0, enableOfflineQueue: false, autoResendUnfulfilledCommands: false };
const singleCommands = { ...always, ...noResend };
const clusterCommands = {
  ...always,
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  scaleReads: "master",
  redisOptions: { keyPrefix: "" },
};

async function receive(subscriber: Ioredis, receiver: Receiver): Promise<Messages> {
  const channels = new Set<string>();
  let isFirst = true;
  subscriber.on("message", (channel: string, message: string) => receiver.message(channel, message));
  subscriber.on("ready", () => {
    if (isFirst || channels.size === 0) {
      isFirst = false;
      return;
    }
    // ioredis emits `ready` before it has subscribed again. A listener notified that early could still miss messages.
    void subscriber.subscribe(...channels).then(
      () => receiver.onMissed(),
      () => {},
    );
  });
  return {
    async subscribe(channel) {
      channels.add(channel);
      await subscriber.subscribe(channel);
    },
    async unsubscribe(channel) {
      channels.delete(channel);
      await subscriber.unsubscribe(channel);
    },
    close: async () => subscriber.disconnect(),
  };
}

async function receiveFromCluster(subscriber: Ioredis, receiver: Receiver, isSharded: boolean): Promise<Messages> {
  const message = (channel: string, text: string): void => receiver.message(channel, text);
  subscriber.on(isSharded ? "smessage" : "message", message);
  // A cluster client emits no event when its subscriber connections reconnect, but it does when its nodes change.
  for (const event of ["+node", "-node", "ready"]) subscriber.on(event, () => receiver.onMissed());
  const [subscribe, unsubscribe] = isSharded
    ? (["ssubscribe", "sunsubscribe"] as const)
    : (["subscribe", "unsubscribe"] as const);
  return {
    subscribe: async (channel) => void (await subscriber[subscribe](channel)),
    unsubscribe: async (channel) => void (await subscriber[unsubscribe](channel)),
    close: async () => subscriber.disconnect(),
  };
}
