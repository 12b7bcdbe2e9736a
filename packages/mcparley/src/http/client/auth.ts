import { unlessAborted } from "../../rpc/abort.ts";
import type { HttpAuth, HttpAuthRequest } from "./settings.ts";

/** A request that may have to wait for authorization. */
export interface AuthWaiter {
  signal: AbortSignal;
  /** Stops the clocks of what waits for its answer, until the function that it returns is called. What has none is no call of anybody. */
  pause?: (() => () => void) | undefined;
}

/** What authorized a request that was sent. */
export interface Shown {
  headers: Readonly<Record<string, string>>;
  /** Which of the authorizations it was; there is a new one after each challenge that was met. */
  generation: number;
}

interface Challenge {
  status: number;
  met: Promise<boolean>;
  /** How many calls wait for it; with the last one that is given up, it is given up as well. */
  waiting: number;
  controller: AbortController;
}

/** One authorization for all requests to a target, so that requests refused together lead to one challenge. */
export class SharedAuth {
  readonly #auth: HttpAuth;
  readonly #server: URL;
  #generation = 0;
  /** The challenges under way, by status: a sign-in and a request for more scopes are two things. */
  readonly #challenges = new Map<number, Challenge>();

  constructor(auth: HttpAuth, server: URL) {
    this.#auth = auth;
    this.#server = server;
  }

  /** What a request is to show. Rejects as the sign-in does that it waits for. */
  async show(url: URL, method: string, waiter: AuthWaiter): Promise<Shown> {
    // While a sign-in is under way, a request could only be refused as well.
    const underWay = this.#challenges.get(401);
    if (underWay) await this.#waitFor(underWay, waiter);
    const generation = this.#generation;
    return { headers: await this.#auth.headers(this.#request(url, method)), generation };
  }

  /** Whether the request is to be sent once more because of what the response has told. */
  responded(url: URL, method: string, { status, headers }: Response): boolean {
    return this.#auth.responded?.(this.#request(url, method), { status, headers }) ?? false;
  }

  /**
   * Whether a refused request is worth repeating, as there is something new to show since it was sent: because it asked for
   * that, or somebody else did, perhaps for something else.
   */
  async challenged(
    response: Response,
    sent: Shown & { url: URL; method: string; repeated: number },
    waiter: AuthWaiter,
  ): Promise<"own" | "shared" | false> {
    if (sent.generation !== this.#generation) return "shared";
    const { status, headers } = response;
    let challenge = this.#challenges.get(status);
    const by = challenge ? "shared" : "own";
    if (!challenge) {
      const controller = new AbortController();
      const request = this.#request(sent.url, sent.method);
      const refused = { status, headers, request, shown: sent.headers, repeated: sent.repeated };
      const met = this.#auth.challenged(refused, controller.signal).then((hasNew) => {
        if (hasNew) this.#generation++;
        return hasNew;
      });
      challenge = { status, met, waiting: 0, controller };
      this.#challenges.set(status, challenge);
      const made = challenge;
      met.then(
        () => this.#forget(made),
        () => this.#forget(made),
      );
    }
    return (await this.#waitFor(challenge, waiter)) && by;
  }

  #request(url: URL, method: string): HttpAuthRequest {
    return { url, method, server: this.#server };
  }

  #forget(challenge: Challenge): void {
    if (this.#challenges.get(challenge.status) === challenge) this.#challenges.delete(challenge.status);
  }

  async #waitFor(challenge: Challenge, { signal, pause }: AuthWaiter): Promise<boolean> {
    if (pause) challenge.waiting++;
    const resume = pause?.();
    try {
      return await unlessAborted(challenge.met, signal, "Waiting for a sign-in");
    } finally {
      resume?.();
      if (pause && --challenge.waiting === 0) {
        this.#forget(challenge);
        challenge.controller.abort(signal.reason);
      }
    }
  }
}
