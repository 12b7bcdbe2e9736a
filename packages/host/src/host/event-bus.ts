import { ignoreErrors } from "../values/ignore-errors.ts";
import type { WithoutSecrets } from "../values/without-secrets.ts";
import type { HostEvent } from "./host-events.ts";

type Listener = (event: HostEvent) => void;

/** Passes the events of a host to its listeners, without secrets. */
export interface EventBus {
  /** Calls each listener. Their errors are ignored. */
  emit(this: void, event: HostEvent): void;
  subscribe(this: void, listener: Listener): () => void;
}

/** Creates a bus with an optional first listener. */
export function eventBus(first: Listener | undefined, withoutSecrets: WithoutSecrets): EventBus {
  const listeners = new Set<{ readonly listener: Listener }>();
  const subscribe = (listener: Listener): (() => void) => {
    const entry = { listener };
    listeners.add(entry);
    return () => void listeners.delete(entry);
  };
  if (first) subscribe(first);
  return {
    subscribe,
    emit(original) {
      if (listeners.size === 0) return;
      const event = withoutSecrets(original);
      for (const { listener } of listeners) ignoreErrors(() => listener(event));
    },
  };
}
