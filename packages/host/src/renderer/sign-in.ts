/** A question whether to sign in again at a server, because a call needs scopes that the user has not granted. */
export interface SignInRequest {
  /** The name of the server in the host. */
  readonly server: string;
  /** The URL of the server. */
  readonly url: string;
  /** The issuer identifier of the authorization server. */
  readonly issuer: string;
  /** The call that needs the scopes, such as `tools/call "book"`, if it is known. */
  readonly during: string | undefined;
  /** The scopes that the call needs and the user has not granted, as the server names them. */
  readonly missingScopes: readonly string[];
  /** All scopes that the sign-in requests. */
  readonly scopes: readonly string[];
}

/** The answer to a `SignInRequest`. After `allow` the `signIn` of the host runs, and the call continues. */
export interface SignInAnswer {
  /** Whether to sign in. */
  readonly action: "allow" | "deny";
}
