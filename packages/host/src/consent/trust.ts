/** The identity of a server to which trust is bound. */
export interface ServerIdentity {
  readonly kind: "command" | "url" | "in-process";
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /** The path of the executable that the program's name leads to. */
  readonly executable?: string;
  readonly cwd?: string;
  /** The names of the environment variables that the program receives, sorted. */
  readonly environment?: readonly string[];
  readonly url?: string;
  /** The names of the headers that requests carry, sorted. */
  readonly headers?: readonly string[];
}

/** A question whether a server may be started or connected to. */
export interface TrustRequest {
  readonly server: string;
  readonly identity: ServerIdentity;
  /** The identity that was trusted under this name before, if it differs. */
  readonly previous: ServerIdentity | undefined;
  /** Remarks to show, such as confusable characters in the URL. */
  readonly remarks: readonly string[];
}

/** The answer to a `TrustRequest`. */
export interface TrustAnswer {
  readonly action: "trust" | "deny";
}
