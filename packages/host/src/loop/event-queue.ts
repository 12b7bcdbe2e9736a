import type { WithoutSecrets } from "../values/without-secrets.ts";
import type { RunEvent } from "./run-events.ts";

/** The events of a run, from the run to its consumer. */
export interface EventQueue {
  /** Adds an event, and returns it as the consumer receives it. */
  push<E extends RunEvent>(this: void, event: E): E;
  /** Ends the iteration after the events so far. */
  end(this: void): void;
  /** Returns the only iterator. `onReturn` is called if the consumer stops before the end. */
  iterate(this: void, onReturn: () => Promise<void>): AsyncIterator<RunEvent>;
  /** Number of events that wait for the consumer. */
  readonly size: number;
}

/**
 * Returns an empty queue, which removes the secrets of the host from each event.
 *
 * A run does not wait for its consumer, because a caller may only await `finished`. If the consumer is slower than the run, adjacent
 * texts become one event, and only the last progress and task state of a call are kept. The queue is then not larger than the
 * conversation.
 */
export function createEventQueue(withoutSecrets: WithoutSecrets): EventQueue {
  let events: RunEvent[] = [];
  let wake: (() => void) | undefined;
  let isEnded = false;
  let isTaken = false;

  async function next(): Promise<IteratorResult<RunEvent>> {
    for (;;) {
      const event = events.shift();
      if (event) return { value: event, done: false };
      if (isEnded) return { value: undefined, done: true };
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  return {
    push(original) {
      const event = withoutSecrets(original);
      if (isEnded) return event;
      if (!mergeText(events, event) && !replaceState(events, event)) events.push(event);
      wake?.();
      return event;
    },
    end() {
      isEnded = true;
      wake?.();
    },
    iterate(onReturn) {
      if (isTaken)
        throw new Error("The events of a run can be iterated once. Keep them in an array to read them again.");
      isTaken = true;
      return {
        next,
        async return() {
          isEnded = true;
          events = [];
          wake?.();
          await onReturn();
          return { value: undefined, done: true };
        },
      };
    },
    get size() {
      return events.length;
    },
  };
}

/** Appends a text to the last event, if that is a text of the same type. */
function mergeText(events: RunEvent[], event: RunEvent): boolean {
  const last = events.at(-1);
  if (event.type !== "text" && event.type !== "reasoning") return false;
  if (last?.type !== event.type) return false;
  events[events.length - 1] = { type: event.type, text: last.text + event.text };
  return true;
}

/** Replaces the progress or task state of a call by the new one, unless another event of this call follows it. */
function replaceState(events: RunEvent[], event: RunEvent): boolean {
  if (!isState(event)) return false;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const other = events[index];
    if (!other || !("callId" in other) || other.callId !== event.callId) continue;
    if (!isState(other)) return false;
    if (other.activity.type !== event.activity.type) continue;
    events[index] = event;
    return true;
  }
  return false;
}

function isState(event: RunEvent): event is RunEvent & { type: "activity" } {
  return event.type === "activity" && (event.activity.type === "progress" || event.activity.type === "task");
}
