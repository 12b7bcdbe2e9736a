import { ignoreErrors } from "../values/ignore-errors.ts";
import type { HostEvent } from "./host-events.ts";

type Listener = (event: HostEvent) => void;

/** Passes the events of a host to its listeners. */
export interface EventBus {
  /** Calls each listener. Their errors are ignored. */
  emit(this: void, event: HostEvent): void;
  subscribe(this: void, listener: Listener): () => void;
}

/** Creates a bus with an optional first listener. */
export function eventBus(first: Listener | undefined): EventBus {
  const listeners = new Set<{ readonly listener: Listener }>();
  const subscribe = (listener: Listener): (() => void) => {
    const entry = { listener };
    listeners.add(entry);
    return () => void listeners.delete(entry);
  };
  if (first) subscribe(first);
  return {
    subscribe,
    emit(event) {
      for (const { listener } of listeners) ignoreErrors(() => listener(event));
    },
  };
}
