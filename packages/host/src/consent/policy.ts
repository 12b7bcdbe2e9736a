/** The answer of a rule. */
export type Decision = "allow" | "ask" | "deny";

/** A rule of consent. It applies to a call if all of its members match. Texts are case-sensitive, and are not normalized. */
export interface Rule {
  /** The answer for the calls that the rule matches. */
  readonly decision: Decision;
  /** Name of the server. `*` stands for any characters. Default: every server. */
  readonly server?: string;
  /** Name of the tool at its server. `*` stands for any characters. Default: every tool. */
  readonly tool?: string;
  /**
   * Annotations that the tool must have with exactly these values. A tool without an annotation has the default of the
   * specification, such as `destructiveHint: true`. Annotations are claims of the server.
   */
  readonly annotations?: Readonly<Record<string, boolean>>;
  /**
   * Patterns of arguments by JSON pointer. A pattern matches the whole text of a string, or the canonical JSON of another value.
   * `*` stands for any characters. A rule with a pattern does not match a call without the argument. `*` of an `allow` rule does
   * not match a value with a path segment `..`.
   */
  readonly arguments?: Readonly<Record<string, string>>;
  /**
   * SHA-256 that the definition of the tool must have. Remembered answers of a person have it. An `allow` rule with a definition applies
   * only if it has the `identity` of the server too. Default: any definition.
   */
  readonly definition?: string;
  /** The hash of the identity that the server must have. Remembered answers of a person have it. Default: any identity. */
  readonly identity?: string;
}

/** The consent that a host requires. */
export interface Policy {
  /** `deny` has precedence over `ask`, and `ask` over `allow`. A call that no rule matches is asked for. */
  readonly rules?: readonly Rule[];
  /**
   * Trust in programs and URLs. `ask`: the user is asked before the first start or connection. `configured`: those in the
   * options of `createHost` are trusted, because their author chose them. Servers in this process are always trusted. Default: `ask`.
   */
  readonly trust?: "ask" | "configured";
  /**
   * Review of definitions. `always`: new and changed definitions are reviewed before their first use. `changes`: the
   * definitions of a server's first list are accepted, and later changes are reviewed. Default: `always`.
   */
  readonly review?: "always" | "changes";
}

/** The record of a decision of consent, for an audit. It contains no argument and no secret. */
export interface DecisionRecord {
  /** The time in milliseconds since 1970. */
  readonly at: number;
  /** The kind of the decision. */
  readonly subject: "call" | "trust" | "definition" | "elicitation" | "sampling" | "roots" | "sign-in";
  /** The name of the server in the host. */
  readonly server: string;
  /** The name of the tool, prompt or request that was decided on. */
  readonly name?: string;
  /** The decision. */
  readonly outcome: "allowed" | "denied";
  /**
   * The reason of the decision: a rule, a person, an earlier answer, a limit, the absence of a renderer, the options of the host, or
   * a definition that is not accepted.
   */
  readonly by: "rule" | "person" | "remembered" | "limit" | "no-renderer" | "configuration" | "unreviewed";
  /** The rule that decided. */
  readonly rule?: Rule;
  /** SHA-256 of the canonical JSON of the arguments: of a denied call those that were asked for, otherwise those to send. */
  readonly argumentsHash?: string;
  /** Whether a person edited the arguments, the answer or the request. */
  readonly isEdited?: boolean;
}
