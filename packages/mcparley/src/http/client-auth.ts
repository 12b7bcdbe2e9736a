import type { HttpAuth } from "./client-settings.ts";

/** The headers that authorize a request, and the generation of what they show. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly generation: number;
}

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

  /** The headers for one request. */
  async headers(url: URL, method: string): Promise<Authorization> {
    // While a sign-in is under way, a request could only be refused as well.
    await this.#challenges.get(401)?.catch(() => {});
    const generation = this.#generation;
    return { headers: await this.#auth.headers(url, method), generation };
  }

  /** Whether the request is to be sent once more because of what the response has told. */
  responded(url: URL, { status, headers }: Response): boolean {
    return this.#auth.responded?.(url, { status, headers }) ?? false;
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
