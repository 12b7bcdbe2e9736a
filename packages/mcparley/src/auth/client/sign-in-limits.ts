import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isClientRefusal } from "./oauth-error.ts";

/** Milliseconds in which requests start no sign-in after the last of too many. */
export const SIGN_IN_PAUSE_MS = 600_000;
/** Maximum sign-ins in a row that requests start, if each of them fails. */
const MAX_FAILURES = 2;
/** The maximum number of requests for more scopes because of the same challenge, and of those without success. */
const MAX_STEP_UPS = 2;
const MAX_CHALLENGES = 1_000;

/** Limits the sign-ins that requests to a server start: programs repeat requests, and each sign-in opens a page for the user. */
export class SignInLimits {
  readonly #clock: Clock;
  /** The last sign-in that failed, and the number of them since the last success. */
  #failures: { count: number; time: number; error: Error } | undefined;
  /** The number of requests for more scopes, by the scopes of the challenge. */
  readonly #stepUps = new Map<string, number>();
  /** The token of the last request for more scopes. */
  #steppedUpToken: string | undefined;
  /** The number of requests for more scopes without success, and the time of the last one. */
  #uselessStepUps = { count: 0, time: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws the error of the last sign-in if the sign-ins before have failed too often. */
  checkFailures(): void {
    const failures = this.#failures;
    if (failures && this.#clock.now() - failures.time >= SIGN_IN_PAUSE_MS) this.#failures = undefined;
    else if (failures && failures.count >= MAX_FAILURES) throw pauseError(failures.error);
  }

  /** Counts a sign-in that has failed. The function `signIn` of the program can throw errors of any type. */
  addFailure(error: unknown): void {
    // A refused client was already tried twice, or cannot be replaced.
    if (isClientRefusal(error)) this.#setFailures(error, MAX_FAILURES);
    // With this code, no sign-in has started.
    else if (error instanceof Error && !(error instanceof LocalError && error.code === "sign_in_required")) {
      this.#setFailures(error, (this.#failures?.count ?? 0) + 1);
    }
  }

  /** Starts the pause because of a sign-in whose token is refused, unless sign-ins have failed before. */
  pause(error: Error): void {
    if (!this.#failures) this.#setFailures(error, MAX_FAILURES);
  }

  clearFailures(): void {
    this.#failures = undefined;
  }

  #setFailures(error: Error, count: number): void {
    this.#failures = { count, time: this.#clock.now(), error };
  }

  /**
   * Returns whether more scopes may be requested because of a challenge. `token` is the present token, and `challenges` the number of
   * earlier refusals of the request.
   *
   * A request for scopes is without success if its own new token is refused too, for other scopes.
   */
  allowsStepUp(scopes: string, { token, challenges }: { token: string | undefined; challenges: number }): boolean {
    const now = this.#clock.now();
    if (now - this.#uselessStepUps.time >= SIGN_IN_PAUSE_MS) this.#uselessStepUps = { count: 0, time: now };
    if (challenges > 0 && token !== undefined && token === this.#steppedUpToken) {
      this.#uselessStepUps = { count: this.#uselessStepUps.count + 1, time: now };
    }
    return this.#uselessStepUps.count < MAX_STEP_UPS && (this.#stepUps.get(scopes) ?? 0) < MAX_STEP_UPS;
  }

  /** Counts a request for more scopes because of a challenge. `token` is the new token. */
  addStepUp(scopes: string, token: string): void {
    const count = (this.#stepUps.get(scopes) ?? 0) + 1;
    if (this.#stepUps.size >= MAX_CHALLENGES) this.#stepUps.clear();
    this.#stepUps.set(scopes, count);
    this.#steppedUpToken = token;
  }
}

/** Returns the error of a request that starts no sign-in, because the last one failed. */
function pauseError(error: Error): LocalError {
  const { code, message, data } = error instanceof LocalError ? error : new LocalError("sign_in_failed", error.message);
  const text = /[.!?]$/.test(message) ? message : `${message}.`;
  const minutes = SIGN_IN_PAUSE_MS / 60_000;
  const cure = `No other sign-in is started for ${minutes} minutes. Call \`signIn\` of the authorization to sign in.`;
  return new LocalError(code, `${text} ${cure}`, { data });
}
