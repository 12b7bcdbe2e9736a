/**
 * Returns a controller with the part of `AbortController` that the client uses. Each request needs one, and few are aborted. A
 * controller of the platform takes longer to create than the message of the request.
 */
export function createController(): AbortController {
  return new QuickController() as unknown as AbortController;
}

/** Returns a signal of the platform, which `fetch` requires. */
export function platformSignal(signal: AbortSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const quick = signal as unknown as QuickController;
  const follow = (): void => controller.abort(quick.reason);
  if (quick.aborted) follow();
  else quick.addEventListener("abort", follow);
  return controller.signal;
}

type Listener = (() => void) | { handleEvent(): void };

/** A controller that is its own signal. */
class QuickController {
  aborted = false;
  reason: unknown;
  /** Undefined, the only listener, or all of them. */
  #listeners: Listener | Listener[] | undefined;

  get signal(): this {
    return this;
  }

  abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#all();
    this.#listeners = undefined;
    for (const listener of listeners) {
      if (typeof listener === "function") listener();
      else listener.handleEvent();
    }
  }

  addEventListener(_: "abort", listener: Listener): void {
    this.#listeners = this.#listeners === undefined ? listener : [...this.#all(), listener];
  }

  removeEventListener(_: "abort", listener: Listener): void {
    this.#listeners = this.#listeners === listener ? undefined : this.#all().filter((one) => one !== listener);
  }

  #all(): Listener[] {
    if (this.#listeners === undefined) return [];
    return Array.isArray(this.#listeners) ? this.#listeners : [this.#listeners];
  }
}
