import { LocalError } from "../../rpc/errors.ts";

/** How a user signs in: the user visits a URL, and returns to a redirect URI. */
export interface SignIn {
  /**
   * Prepares to receive the redirect. `previous` is the redirect URI of an earlier registration. Use it again if possible,
   * because another one requires a new registration of the client.
   *
   * Rejects with `LocalError` `sign_in_required` if no sign-in is possible here. No client is registered then.
   */
  prepare(previous: string | undefined, purpose?: SignInPurpose): Promise<SignInAttempt>;
}

/** The servers and the scopes of a sign-in, to show them to the user. */
export interface SignInPurpose {
  /** The URL of the MCP server. */
  readonly server: string;
  /** The issuer identifier of the authorization server. */
  readonly issuer: string;
  /** Whether the server names no authorization server, so that one at its origin is assumed, which may not exist. Default: false. */
  readonly isIssuerAssumed?: boolean;
  /** The scopes to request. Undefined if the authorization server chooses them. */
  readonly scopes: readonly string[] | undefined;
  /** The scopes that a request needs and the present tokens lack. Undefined if the sign-in has another reason. */
  readonly missingScopes?: readonly string[] | undefined;
}

/** One attempt to sign in. The caller of `prepare` must always close it. */
export interface SignInAttempt {
  /** The URI to which the authorization server must redirect. */
  readonly redirectUri: string;
  /**
   * Sends the user to the URL and resolves with the URL to which the user was redirected. The caller checks its content.
   * Rejects with `LocalError` `sign_in_required` if no sign-in is possible here.
   */
  visit(authorizationUrl: URL, signal: AbortSignal): Promise<URL>;
  /** Releases the attempt, such as its listening port. Called in every case. */
  close(): Promise<void>;
}

/** Options of `pastedSignIn`. */
export interface PastedSignInOptions {
  /** Shows a line of text to the user. One of the lines is the URL to visit. */
  print(this: void, line: string): void;
  /** Asks the user for a line. Rejects if there is none, or if the signal is aborted. */
  read(this: void, question: string, signal: AbortSignal): Promise<string>;
  /**
   * The redirect URI: an address at which nothing listens, so that it remains in the browser's address bar. Default: a
   * random port of `http://127.0.0.1`.
   */
  readonly redirectUri?: string;
}

const maxAttempts = 3;
/** The dynamic ports, which are assigned to no program (RFC 6335, 6). */
const firstPort = 49_152;
const ports = 16_384;

/**
 * Signs a user in with a browser of any machine: prints the URL to visit, and reads the address at which the browser
 * ended, or the code in it.
 *
 * The pasted address must start with the redirect URI and contain the state of the authorization URL. After three invalid
 * lines the sign-in rejects with `LocalError` `sign_in_failed`.
 *
 * @example
 * ```ts
 * import { createInterface } from "node:readline/promises";
 * import { oauth, pastedSignIn } from "mcparley/auth";
 *
 * const terminal = createInterface({ input: process.stdin, output: process.stdout });
 * const signIn = pastedSignIn({
 *   print: (line) => console.log(line),
 *   read: (question, signal) => terminal.question(question, { signal }),
 * });
 * const auth = oauth({ signIn });
 * ```
 */
export function pastedSignIn(options: PastedSignInOptions): SignIn {
  return {
    prepare: (previous) => {
      const isOurs = previous !== undefined && /^http:\/\/127\.0\.0\.1:\d+\/callback$/.test(previous);
      const redirectUri = options.redirectUri ?? (isOurs ? previous : randomRedirectUri());
      const visit = (url: URL, signal: AbortSignal): Promise<URL> =>
        askForUrl(url, redirectUri, { ...options, signal });
      return Promise.resolve({ redirectUri, visit, close: () => Promise.resolve() });
    },
  };
}

async function askForUrl(
  authorizationUrl: URL,
  redirectUri: string,
  { print, read, signal }: PastedSignInOptions & { signal: AbortSignal },
): Promise<URL> {
  const { origin, pathname } = new URL(redirectUri);
  const state = authorizationUrl.searchParams.get("state");
  print("Open this URL in a browser and sign in:");
  print(authorizationUrl.href);
  print(`At the end the browser shows an error for ${origin}${pathname}. This is expected.`);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    signal.throwIfAborted();
    const line = await read("Paste the URL from the browser's address bar > ", signal);
    const result = readPasted(line.trim(), new URL(redirectUri), state);
    if (result instanceof URL) return result;
    print(result);
  }
  throw new LocalError(
    "sign_in_failed",
    `None of the ${maxAttempts} pasted lines is the redirect URL of this sign-in.`,
  );
}

/** Returns the pasted address, or a message about its error that repeats nothing of it. */
function readPasted(line: string, redirect: URL, state: string | null): URL | string {
  if (line === "") return "The line is empty.";
  if (/^[\w.~+/=-]{8,}$/.test(line)) {
    // A bare code gets the state of this sign-in, because the user pasted it for this sign-in.
    redirect.searchParams.set("code", line);
    if (state !== null) redirect.searchParams.set("state", state);
    return redirect;
  }
  if (!URL.canParse(line)) return "The line is neither a URL nor a code.";
  const url = new URL(line);
  if (url.origin !== redirect.origin || url.pathname !== redirect.pathname) {
    return `The URL does not start with ${redirect.origin}${redirect.pathname}.`;
  }
  const states = url.searchParams.getAll("state");
  if (states.length === 1 && (state === null || states[0] === state)) return url;
  return "The URL is incomplete, or belongs to another sign-in.";
}

function randomRedirectUri(): string {
  const [random = 0] = crypto.getRandomValues(new Uint16Array(1));
  return `http://127.0.0.1:${firstPort + (random % ports)}/callback`;
}
