import { LocalError } from "../../rpc/errors.ts";
import type { SignIn, SignInAttempt } from "./sign-in-types.ts";

export interface PastedSignInOptions {
  /** Shows a line of text to the person. One of the lines is the URL to visit. */
  print(this: void, line: string): void;
  /** Asks the person for a line; rejects where there is none, or the signal is aborted. */
  read(this: void, question: string, signal: AbortSignal): Promise<string>;
  /**
   * Where the person comes back to: an address at which nothing listens, so that it stays in the browser's address bar.
   * A port of `http://127.0.0.1` unless given.
   */
  readonly redirectUri?: string;
}

/** How often a person may paste something else before the sign-in has failed. */
const attempts = 3;
/** The ports that no program has for its own (RFC 6335, 6). */
const firstPort = 49_152;
const ports = 16_384;

/**
 * Signs a person in with a browser of any machine: shows the URL to visit, and reads the address that the browser ended
 * at, or the code in it.
 *
 * What is pasted must be an address of the redirect URI with the state of the authorization URL; it is asked for three
 * times at most, after which it rejects with `LocalError` `sign_in_failed`.
 */
export function pastedSignIn(options: PastedSignInOptions): SignIn {
  return {
    prepare: (previous) => {
      const redirectUri = options.redirectUri ?? (isOurs(previous) ? previous : randomRedirectUri());
      return Promise.resolve(new PastedAttempt(redirectUri, options));
    },
  };
}

class PastedAttempt implements SignInAttempt {
  readonly redirectUri: string;
  readonly #options: PastedSignInOptions;

  constructor(redirectUri: string, options: PastedSignInOptions) {
    this.redirectUri = redirectUri;
    this.#options = options;
  }

  async visit(authorizationUrl: URL, signal: AbortSignal): Promise<URL> {
    const { print, read } = this.#options;
    const { origin, pathname } = new URL(this.redirectUri);
    print("Visit this address with a browser, and sign in:");
    print(authorizationUrl.href);
    print(`In the end the browser is at ${origin}${pathname} and cannot show it. That is as it should be.`);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      signal.throwIfAborted();
      const pasted = await read("Paste the whole address that it is at then > ", signal);
      const found = this.#read(pasted.trim(), authorizationUrl.searchParams.get("state"));
      if (found instanceof URL) return found;
      print(found);
    }
    throw new LocalError("sign_in_failed", "None of what was pasted is the address that this sign-in ends at.");
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The address that the person came back with, or what is wrong with it; that repeats nothing of what was pasted. */
  #read(pasted: string, state: string | null): URL | string {
    if (pasted === "") return "That was empty.";
    // What a person pastes here, they mean for this sign-in, so a bare code has its state.
    if (/^[\w.~+/=-]{8,}$/.test(pasted)) return this.#withCode(pasted, state);
    if (!URL.canParse(pasted)) return "That is neither an address nor a code.";
    const url = new URL(pasted);
    const redirect = new URL(this.redirectUri);
    if (url.origin !== redirect.origin || url.pathname !== redirect.pathname) {
      return `That address does not begin with ${redirect.origin}${redirect.pathname}.`;
    }
    const states = url.searchParams.getAll("state");
    if (states.length === 1 && (state === null || states[0] === state)) return url;
    return "That address is not of this sign-in, or not all of it. It may be of an earlier one.";
  }

  #withCode(code: string, state: string | null): URL {
    const url = new URL(this.redirectUri);
    url.searchParams.set("code", code);
    if (state !== null) url.searchParams.set("state", state);
    return url;
  }
}

function isOurs(redirectUri: string | undefined): redirectUri is string {
  return redirectUri !== undefined && /^http:\/\/127\.0\.0\.1:\d+\/callback$/.test(redirectUri);
}

function randomRedirectUri(): string {
  const [random = 0] = crypto.getRandomValues(new Uint16Array(1));
  return `http://127.0.0.1:${firstPort + (random % ports)}/callback`;
}
