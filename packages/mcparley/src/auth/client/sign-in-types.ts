/** How a person signs in: they are sent to a URL, and come back to a redirect URI. */
export interface SignIn {
  /**
   * Makes ready to be come back to. `previous` is the redirect URI of an earlier registration, to be used again where
   * that is possible: with another one, the client has to be registered anew.
   */
  prepare(previous: string | undefined): Promise<SignInAttempt>;
}

/** One attempt of a person to sign in. Whoever prepared it closes it, whatever became of it. */
export interface SignInAttempt {
  readonly redirectUri: string;
  /**
   * Sends the person to the URL and resolves with the URL that they came back with; what that says is checked by the
   * caller. Rejects with `LocalError` `sign_in_required`, whose `data.url` is the URL, where nobody can sign in here.
   */
  visit(authorizationUrl: URL, signal: AbortSignal): Promise<URL>;
  close(): Promise<void>;
}
