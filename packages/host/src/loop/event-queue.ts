import type { SecretFilter } from "../values/types.ts";
import type { RunEvent } from "./run-events.ts";

/** The events of a run, from the run to its consumer. */
export interface EventQueue {
  /** Adds an event. The end of a text that may be the start of a secret is added with the next event. */
  push(this: void, event: RunEvent): void;
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
export function createEventQueue({
  withoutSecrets,
  lengthBeforeStart,
}: Pick<SecretFilter, "withoutSecrets" | "lengthBeforeStart">): EventQueue {
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

  function add(original: RunEvent): void {
    const event = withoutSecrets(original);
    if (isEnded) return;
    if (!mergeText(events, event) && !replaceState(events, event)) events.push(event);
    wake?.();
  }

  const texts = divideTexts(add, lengthBeforeStart);
  return {
    push(event) {
      if (event.type === "text" || event.type === "reasoning") return texts.add(event);
      texts.end();
      add(event);
    },
    end() {
      texts.end();
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

type TextEvent = RunEvent & { readonly type: "text" | "reasoning" };

/** Holds back the end of a text that may be the start of a secret, until the next text of the same type or the end of the text. */
function divideTexts(
  add: (event: TextEvent) => void,
  lengthBeforeStart: SecretFilter["lengthBeforeStart"],
): { add(this: void, event: TextEvent): void; end(this: void): void } {
  let held: TextEvent | undefined;
  const end = (): void => {
    if (held) add(held);
    held = undefined;
  };
  return {
    end,
    add({ type, text: next }) {
      if (held?.type !== type) end();
      const text = (held?.text ?? "") + next;
      const length = lengthBeforeStart(text);
      held = length < text.length ? { type, text: text.slice(length) } : undefined;
      if (length > 0) add({ type, text: text.slice(0, length) });
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
