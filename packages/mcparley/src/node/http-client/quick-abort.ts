/**
 * Returns a controller with the part of `AbortController` that the client uses. Each request needs one, and few are aborted. One
 * of the platform takes longer to make than the message of the request.
 */
export function createController(): AbortController {
  return new QuickController() as unknown as AbortController;
}

/** Returns a signal of the platform, which `fetch` requires. */
export function platformSignal(signal: AbortSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const follow = (): void => controller.abort((signal as QuickSignal).reason);
  if ((signal as QuickSignal).aborted) follow();
  else (signal as QuickSignal).addEventListener("abort", follow);
  return controller.signal;
}

class QuickController {
  readonly signal = new QuickSignal();

  abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): void {
    this.signal.abort(reason);
  }
}

class QuickSignal {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] = [];

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
}
