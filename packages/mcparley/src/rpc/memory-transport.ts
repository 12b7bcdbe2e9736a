import { copyAsJson } from "./json-values.ts";
import type { JsonRpcMessage } from "./messages.ts";
import type { Receiver, Transport } from "./transport.ts";

type Sent = JsonRpcMessage | JsonRpcMessage[];

/**
 * Returns two transports that are connected to each other in memory.
 *
 * Messages are delivered in order, each in a separate microtask. They are copied as JSON would do it: members without a value are
 * omitted, a `Date` becomes text, and neither side can change the objects of the other. Messages that are sent before the
 * other side has started are delivered when it starts. Closing one side closes both.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 * import { createServer } from "mcparley/server";
 * import { memoryPair } from "mcparley/testing";
 *
 * const server = createServer({ name: "notes", version: "1.0.0" });
 * const [clientSide, serverSide] = memoryPair();
 * await server.attach(serverSide);
 * const client = await connect(clientSide);
 * ```
 */
export function memoryPair(): [Transport, Transport] {
  const first = inbox();
  const second = inbox();
  const close = async (): Promise<void> => {
    first.end();
    second.end();
  };
  return [
    { start: first.open, send: second.put, close },
    { start: second.open, send: first.put, close },
  ];
}

interface Inbox {
  open(this: void, receiver: Receiver): void;
  put(this: void, message: Sent): void;
  end(this: void): void;
}

function inbox(): Inbox {
  let receiver: Receiver | undefined;
  let waiting: unknown[] = [];
  let hasEnded = false;

  function put(message: Sent): void {
    if (hasEnded) return;
    // Copied now, because the sender may change the message after it was sent.
    deliver(copyAsJson(message, ""));
  }

  function deliver(value: unknown): void {
    if (receiver) queueMicrotask(() => receiver?.message(value));
    else waiting.push(value);
  }

  function open(newReceiver: Receiver): void {
    receiver = newReceiver;
    const messages = waiting;
    waiting = [];
    for (const message of messages) deliver(message);
    if (hasEnded) queueMicrotask(() => receiver?.closed());
  }

  function end(): void {
    if (hasEnded) return;
    hasEnded = true;
    // A microtask, so that the messages that were sent before are delivered first.
    if (receiver) queueMicrotask(() => receiver?.closed());
  }

  return { open, put, end };
}
