import { guarded } from "../../rpc/guarded.ts";
import type { ClientCore } from "../calls/call.ts";

/** Maximum number of ids of each kind that are remembered. One more displaces the oldest. */
const maxIds = 100;

/**
 * The visits to URLs whose completion the server announces, by their id (2025-11-25, client/elicitation). An announcement of
 * an id that the server has not asked for, or that is complete already, has no effect.
 */
export class UrlVisits {
  readonly #onComplete: (id: string) => void;
  /** The calls that wait for a visit. */
  readonly #expected = new Map<string, () => void>();
  readonly #asked = new Set<string>();
  /** The announcement may arrive before the request for the visit. */
  readonly #early = new Set<string>();
  readonly #complete = new Set<string>();

  constructor(onComplete: (id: string) => void) {
    this.#onComplete = onComplete;
  }

  /** Notes that the server has asked for a visit. */
  asked(id: string): void {
    if (this.#complete.has(id)) return;
    remember(this.#asked, id);
    if (this.#early.delete(id)) this.#completed(id);
  }

  /** Returns a promise that settles when the server announces that the visit is complete. */
  expect(id: string): Promise<void> {
    this.asked(id);
    if (this.#complete.has(id)) return Promise.resolve();
    return new Promise((resolve) => this.#expected.set(id, resolve));
  }

  /** Called when no call waits for the visit any more. Its completion is still announced to the host. */
  cancel(id: string): void {
    this.#expected.delete(id);
  }

  /** Handles an announcement of the server. */
  completed(id: unknown): void {
    if (typeof id !== "string" || this.#complete.has(id)) return;
    if (this.#asked.has(id)) this.#completed(id);
    else remember(this.#early, id);
  }

  #completed(id: string): void {
    this.#asked.delete(id);
    remember(this.#complete, id);
    this.#expected.get(id)?.();
    this.#onComplete(id);
  }
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > maxIds && oldest !== undefined) ids.delete(oldest);
}

/** Returns the visits that the server of a client has asked for. */
export function visitsOf(core: ClientCore): UrlVisits {
  core.visits ??= new UrlVisits((id) => {
    guarded(() => core.options.onElicitationComplete?.(id), core.report);
  });
  return core.visits;
}
