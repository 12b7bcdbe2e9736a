import type { HttpAuth } from "./client-settings.ts";

/** One authorization for all requests to a target, so that requests refused together lead to one challenge. */
export class SharedAuth {
  readonly #auth: HttpAuth;
  /** Counted up whenever there is something new to show. */
  #generation = 0;
  /** The challenges under way, by status: a sign-in and a request for more scopes are two things. */
  readonly #challenges = new Map<number, Promise<boolean>>();

  constructor(auth: HttpAuth) {
    this.#auth = auth;
  }

  /** The headers for a request, with the generation of what they show. */
  async headers(url: URL): Promise<{ headers: Readonly<Record<string, string>>; generation: number }> {
    // While a sign-in is under way, a request could only be refused as well.
    await this.#challenges.get(401)?.catch(() => {});
    const generation = this.#generation;
    return { headers: await this.#auth.headers(url), generation };
  }

  /** Whether a refused request is worth repeating: there is something new to show since it was sent. */
  challenged(response: Response, generation: number): Promise<boolean> {
    if (generation !== this.#generation) return Promise.resolve(true);
    const { status } = response;
    const underWay = this.#challenges.get(status);
    if (underWay) return underWay;
    const challenge = this.#challenge(response).finally(() => this.#challenges.delete(status));
    this.#challenges.set(status, challenge);
    return challenge;
  }

  async #challenge({ status, headers }: Response): Promise<boolean> {
    const hasNew = await this.#auth.challenged({ status, headers });
    if (hasNew) this.#generation++;
    return hasNew;
  }
}
