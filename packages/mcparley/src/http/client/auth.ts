import { unlessAborted } from "../../rpc/abort.ts";
import type { HttpAuth, HttpAuthRequest } from "./settings.ts";
import type { HttpReply } from "./reply.ts";

/** A request that may wait for authorization. */
interface AuthWaiter {
  signal: AbortSignal;
  /**
   * Stops the timeouts of the requests until the returned function is called. Undefined if the request belongs to no call;
   * a challenge is aborted when no call waits for it.
   */
  pause?: (() => () => void) | undefined;
}

/** The authorization of a request that was sent. */
export interface Authorization {
  headers: Readonly<Record<string, string>>;
  /** The number of challenges that had been answered before. */
  generation: number;
}

/** A request that the server has refused, with the authorization that it was sent with. */
interface RefusedRequest extends Authorization {
  url: URL;
  method: string;
  repeated: number;
  challenges: number;
}

interface Challenge {
  status: number;
  /** Resolves with whether there are new headers. */
  answer: Promise<boolean>;
  /** The number of calls that wait for it. It is aborted when the last of them is cancelled. */
  waiting: number;
  controller: AbortController;
}

/** The authorization that all requests to a target share. Requests that are refused together cause one challenge. */
export class SharedAuth {
  readonly #auth: HttpAuth;
  readonly #target: Pick<HttpAuthRequest, "server" | "connection">;
  #generation = 0;
  /** The headers that were sent last, as JSON. */
  #lastHeaders = "";
  /** The challenges in progress, by status: a sign-in and a request for more scopes are different. */
  readonly #challenges = new Map<number, Challenge>();

  constructor(auth: HttpAuth, target: Pick<HttpAuthRequest, "server" | "connection">) {
    this.#auth = auth;
    this.#target = target;
  }

  /** The credentials that requests are sent with. A proof of possession does not count, because it is different for each request. */
  readonly credentials = {
    generation: 0,
    read: async (): Promise<number> => {
      this.#note(await this.#auth.headers(this.#describe(this.#target.server, "POST")));
      return this.credentials.generation;
    },
  };

  /** Returns the headers for a request. Waits for a sign-in in progress, and rejects if the sign-in fails. */
  async authorize(url: URL, method: string, waiter: AuthWaiter): Promise<Authorization> {
    // During a sign-in the server would refuse the request as well.
    const signIn = this.#challenges.get(401);
    if (signIn) await this.#waitFor(signIn, waiter);
    const generation = this.#generation;
    const pending = this.#auth.headers(this.#describe(url, method));
    const headers = await unlessAborted(pending, waiter.signal, "Waiting for authorization");
    this.#note(headers);
    return { headers, generation };
  }

  /** Whether the request must be sent again with a value from the response. */
  noteResponse(url: URL, method: string, { status, headers }: HttpReply): boolean {
    return this.#auth.responded?.(this.#describe(url, method), { status, headers }) ?? false;
  }

  /**
   * Answers the challenge of a refused request. Returns whether the request should be repeated with new headers: `own` if
   * this request caused the challenge, `shared` if another one did.
   */
  async answerChallenge(
    response: HttpReply,
    refusedRequest: RefusedRequest,
    waiter: AuthWaiter,
  ): Promise<"own" | "shared" | false> {
    if (refusedRequest.generation !== this.#generation) return "shared";
    const shared = this.#challenges.get(response.status);
    const challenge = shared ?? this.#begin(response, refusedRequest);
    return (await this.#waitFor(challenge, waiter)) && (shared ? "shared" : "own");
  }

  #begin(
    { status, headers }: HttpReply,
    { url, method, headers: shown, repeated, challenges }: RefusedRequest,
  ): Challenge {
    const controller = new AbortController();
    const request = this.#describe(url, method);
    const refusal = { status, headers, request, shown, repeated, challenges };
    const answer = this.#auth.challenged(refusal, controller.signal).then((hasNew) => {
      if (hasNew) this.#generation++;
      return hasNew;
    });
    const challenge: Challenge = { status, answer, waiting: 0, controller };
    this.#challenges.set(status, challenge);
    const remove = (): void => this.#remove(challenge);
    answer.then(remove, remove);
    return challenge;
  }

  #note(headers: Readonly<Record<string, string>>): void {
    const json = JSON.stringify({ ...headers, dpop: undefined });
    if (json !== this.#lastHeaders) this.credentials.generation++;
    this.#lastHeaders = json;
  }

  #describe(url: URL, method: string): HttpAuthRequest {
    return { url, method, ...this.#target };
  }

  #remove(challenge: Challenge): void {
    if (this.#challenges.get(challenge.status) === challenge) this.#challenges.delete(challenge.status);
  }

  async #waitFor(challenge: Challenge, { signal, pause }: AuthWaiter): Promise<boolean> {
    if (pause) challenge.waiting++;
    const resume = pause?.();
    try {
      return await unlessAborted(challenge.answer, signal, "Waiting for a sign-in");
    } finally {
      resume?.();
      if (pause && --challenge.waiting === 0) {
        this.#remove(challenge);
        challenge.controller.abort(signal.reason);
      }
    }
  }
}
