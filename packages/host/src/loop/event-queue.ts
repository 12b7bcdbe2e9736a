import type { SecretFilter } from "../values/types.ts";
import type { RunEvent } from "./run-events.ts";

type TextEvent = RunEvent & { readonly type: "text" | "reasoning" };

/**
 * The events of a run, from the run to its consumer, without the secrets of the host.
 *
 * A run does not wait for its consumer, because a caller may only await `finished`. If the consumer is slower than the run, adjacent
 * texts become one event, and only the last progress and task state of a call are kept. The queue is then not larger than the
 * conversation.
 */
export class EventQueue {
  readonly #secrets: Pick<SecretFilter, "withoutSecrets" | "lengthBeforeStart">;
  #events: RunEvent[] = [];
  /** The end of a text that may be the start of a secret. The next text of the same type can have the rest of it. */
  #pendingText: TextEvent | undefined;
  #wake: (() => void) | undefined;
  #isEnded = false;
  #hasIterator = false;

  constructor(secrets: Pick<SecretFilter, "withoutSecrets" | "lengthBeforeStart">) {
    this.#secrets = secrets;
  }

  /** Number of events that wait for the consumer. */
  get size(): number {
    return this.#events.length;
  }

  /** Adds an event. The end of a text that may be the start of a secret is added with the next event. */
  push(event: RunEvent): void {
    if (event.type !== "text" && event.type !== "reasoning") {
      this.#addPendingText();
      return this.#add(event);
    }
    const { type } = event;
    if (this.#pendingText?.type !== type) this.#addPendingText();
    const text = (this.#pendingText?.text ?? "") + event.text;
    const length = this.#secrets.lengthBeforeStart(text);
    this.#pendingText = length < text.length ? { type, text: text.slice(length) } : undefined;
    if (length > 0) this.#add({ type, text: text.slice(0, length) });
  }

  /** Ends the iteration after the events so far. */
  end(): void {
    this.#addPendingText();
    this.#isEnded = true;
    this.#wake?.();
  }

  /** Returns the only iterator. `onReturn` is called if the consumer stops before the end. */
  iterate(onReturn: () => Promise<void>): AsyncIterator<RunEvent> {
    if (this.#hasIterator) {
      throw new Error("The events of a run can be iterated once. Keep them in an array to read them again.");
    }
    this.#hasIterator = true;
    return {
      next: () => this.#next(),
      return: async () => {
        this.#isEnded = true;
        this.#events = [];
        this.#wake?.();
        await onReturn();
        return { value: undefined, done: true };
      },
    };
  }

  async #next(): Promise<IteratorResult<RunEvent>> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return { value: event, done: false };
      if (this.#isEnded) return { value: undefined, done: true };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #addPendingText(): void {
    if (this.#pendingText) this.#add(this.#pendingText);
    this.#pendingText = undefined;
  }

  #add(original: RunEvent): void {
    const event = this.#secrets.withoutSecrets(original);
    if (this.#isEnded) return;
    if (!mergeText(this.#events, event) && !replaceState(this.#events, event)) this.#events.push(event);
    this.#wake?.();
  }
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
    const earlierEvent = events[index];
    if (!earlierEvent || !("callId" in earlierEvent) || earlierEvent.callId !== event.callId) continue;
    if (!isState(earlierEvent)) return false;
    if (earlierEvent.activity.type !== event.activity.type) continue;
    events[index] = event;
    return true;
  }
  return false;
}

function isState(event: RunEvent): event is RunEvent & { type: "activity" } {
  return event.type === "activity" && (event.activity.type === "progress" || event.activity.type === "task");
}
