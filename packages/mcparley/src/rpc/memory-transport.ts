import { type JsonRpcMessage, Prepared, isObject } from "./messages.ts";
import type { Receiver, Transport } from "./transport.ts";

type Sent = JsonRpcMessage | JsonRpcMessage[];

/**
 * Returns two transports that are connected to each other in memory.
 *
 * Messages are delivered in order, each in a separate microtask, and are not serialized. Messages that are sent before the
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
  let waiting: Sent[] = [];
  let hasEnded = false;

  function put(message: Sent): void {
    if (hasEnded) return;
    if (receiver) queueMicrotask(() => receiver?.message(Array.isArray(message) ? message.map(plain) : plain(message)));
    else waiting.push(message);
  }

  function open(newReceiver: Receiver): void {
    receiver = newReceiver;
    const messages = waiting;
    waiting = [];
    for (const message of messages) put(message);
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

function plain(message: JsonRpcMessage): JsonRpcMessage {
  if (!isObject(message) || !("result" in message) || !(message.result instanceof Prepared)) return message;
  return { ...message, result: message.result.value };
}
