/** The identity of a server to which trust is bound. */
export interface ServerIdentity {
  /** The kind of the server. */
  readonly kind: "command" | "url" | "in-process";
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /**
   * The path of the executable that the program's name leads to, without symbolic links. Undefined if there is none, and for an entry of
   * a configuration if the `PATH` of the user chooses it.
   */
  readonly executable?: string;
  /** The working directory of the program, as an absolute path. */
  readonly cwd?: string;
  /** The environment variables that the target adds, by name. A value that looks like a secret is replaced by its length. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The URL without user name and password. Values that look like secrets are replaced by `…`. */
  readonly url?: string;
  /** The name of a server in this process. */
  readonly name?: string;
  /** The headers that requests carry, by lowercase name. A value that looks like a secret is replaced by its length. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The configuration file of the entry. Undefined for a target that the program itself has written. */
  readonly file?: string;
  /** The file from which the entry takes variables. */
  readonly envFile?: string;
  /** The variables of the user's environment, and the files, whose values the entry sends to the program or the URL. */
  readonly sends?: readonly string[];
}

/**
 * The entry of a configuration file from which a target comes: the facts as the file has them, without the values of references.
 * `expandTarget` of `@mcparley/config` returns it.
 */
export interface ConfiguredEntry extends Omit<ServerIdentity, "name"> {
  /** SHA-256, as 64 hexadecimal digits, over everything that the entry says. Consent is bound to it. */
  readonly digest: string;
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
