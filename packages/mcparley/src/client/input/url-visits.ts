import type { JsonObject } from "../../rpc/messages.ts";

/** So many completed visits are remembered that nobody expected, as a refusal may still be on its way to its call. */
const maxEarly = 100;

/** The visits to URLs that a server will say are complete, by their id (2025-11-25, client/elicitation). */
export class UrlVisits {
  readonly #expected = new Map<string, () => void>();
  readonly #early = new Set<unknown>();

  /** Begins to expect the completion of a visit; it settles once the server has told of it. */
  expect(id: string): Promise<void> {
    if (this.#early.delete(id)) return Promise.resolve();
    return new Promise((resolve) => this.#expected.set(id, resolve));
  }

  forget(id: string): void {
    this.#expected.delete(id);
  }

  /** The server says that a visit is complete. */
  completed({ elicitationId: id }: JsonObject): void {
    const settle = this.#expected.get(id as string);
    if (settle) return settle();
    this.#early.add(id);
    if (this.#early.size > maxEarly) this.#early.delete(this.#early.values().next().value);
  }
}
