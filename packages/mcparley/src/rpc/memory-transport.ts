import { type JsonRpcMessage, Prepared, isObject } from "./messages.ts";
import type { Receiver, Transport } from "./transport.ts";

type Sent = JsonRpcMessage | JsonRpcMessage[];

/**
 * Makes two transports that are connected to each other in memory.
 *
 * Messages are handed over as they are, not serialised, each in a turn of its own and in order. What one side sends
 * before the other has started waits for it. Closing either closes both.
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
  let ended = false;

  function put(message: Sent): void {
    if (ended) return;
    if (receiver) queueMicrotask(() => receiver?.message(Array.isArray(message) ? message.map(plain) : plain(message)));
    else waiting.push(message);
  }

  function open(opened: Receiver): void {
    receiver = opened;
    const arrived = waiting;
    waiting = [];
    for (const message of arrived) put(message);
    if (ended) queueMicrotask(() => receiver?.closed());
  }

  function end(): void {
    if (ended) return;
    ended = true;
    // In a turn after those of the messages that were sent before the end.
    if (receiver) queueMicrotask(() => receiver?.closed());
  }

  return { open, put, end };
}

function plain(message: JsonRpcMessage): JsonRpcMessage {
  if (!isObject(message) || !("result" in message) || !(message.result instanceof Prepared)) return message;
  return { ...message, result: message.result.value };
}
