import type { Rule } from "./policy.ts";

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
