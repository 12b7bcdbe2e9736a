import type { SignIn, SignInAttempt } from "../../auth/client/sign-in.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { LoopbackListener } from "./loopback-listener.ts";
import { openUrl } from "./open-url.ts";

export interface LoopbackSignInOptions {
  /** Sends the person to the URL, such as by showing it. `openUrl` unless given. */
  open?: (url: URL) => void | Promise<void>;
  /** Milliseconds for the person to come back in. 10 minutes. */
  timeLimit?: number;
  clock?: Clock;
}

const defaultTimeLimit = 600_000;

/**
 * Signs a person in with the browser of this machine, which comes back to a port of 127.0.0.1 (RFC 8252, 7.3).
 *
 * It listens only while it waits, on a random port or the one of the client's registration where that is free, and takes
 * one request: with the redirect URI's path and Host, and the state of the authorization URL. Rejects with `LocalError`
 * `sign_in_required` where no browser can be opened, and `timeout` where nobody comes back in time.
 */
export function loopbackSignIn(options: LoopbackSignInOptions = {}): SignIn {
  return { prepare: async (previous) => new LoopbackAttempt(await LoopbackListener.open(previous), options) };
}

class LoopbackAttempt implements SignInAttempt {
  readonly redirectUri: string;
  readonly #listener: LoopbackListener;
  readonly #options: LoopbackSignInOptions;

  constructor(listener: LoopbackListener, options: LoopbackSignInOptions) {
    this.#listener = listener;
    this.#options = options;
    this.redirectUri = listener.redirectUri;
  }

  async visit(authorizationUrl: URL, signal: AbortSignal): Promise<URL> {
    const { open = openUrl, timeLimit = defaultTimeLimit, clock = systemClock } = this.#options;
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(tooLate(timeLimit)), timeLimit);
    const ended = AbortSignal.any([signal, limit.signal]);
    // A browser may be back before the program that opened it says so.
    const back = this.#listener.comeBack(authorizationUrl.searchParams.get("state") ?? undefined, ended);
    back.catch(() => {});
    try {
      await Promise.race([back, send(authorizationUrl, open)]);
      return await back;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    return this.#listener.close();
  }
}

async function send(url: URL, open: NonNullable<LoopbackSignInOptions["open"]>): Promise<void> {
  try {
    await open(url);
  } catch (cause) {
    if (cause instanceof LocalError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `A person has to sign in, and no browser could be opened: ${why}.`;
    throw new LocalError("sign_in_required", message, { cause, data: { url: url.href } });
  }
}

function tooLate(timeLimit: number): LocalError {
  return new LocalError("timeout", `Nobody came back from the sign-in within ${timeLimit / 1000} seconds.`);
}
