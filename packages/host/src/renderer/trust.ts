/** The identity of a server to which trust is bound. */
export interface ServerIdentity {
  /** The kind of the server. */
  readonly kind: "command" | "url" | "in-process";
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /** The path of the executable that the program's name leads to, without symbolic links. Undefined if there is none. */
  readonly executable?: string;
  /** The working directory of the program, as an absolute path. */
  readonly cwd?: string;
  /** The names of the environment variables that the target adds, sorted. */
  readonly environment?: readonly string[];
  /** The URL without user name and password. Values that look like secrets are replaced by `…`. */
  readonly url?: string;
  /** The name of a server in this process. */
  readonly name?: string;
  /** The names of the headers that requests carry, sorted. */
  readonly headers?: readonly string[];
}

/** A question whether a server may be started or connected to. */
export interface TrustRequest {
  /** The name of the server in the host. */
  readonly server: string;
  /** The identity to trust. */
  readonly identity: ServerIdentity;
  /** The identity that was trusted under this name before, if it differs. */
  readonly previous: ServerIdentity | undefined;
  /** Remarks to show, such as confusable characters in the URL. */
  readonly remarks: readonly string[];
}

/** The answer to a `TrustRequest`. */
export interface TrustAnswer {
  /** Whether the server may be started or connected to. */
  readonly action: "trust" | "deny";
}
