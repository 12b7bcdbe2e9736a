import { type CheckCall, callConsent } from "./call-consent.ts";
import { problemOfRule } from "./rules.ts";
import { type ConsentOptions, consentParts, type QuestionQueue } from "./consent-parts.ts";
import { type ReviewOutcome, type ReviewSubject, definitionReview } from "./definition-review.ts";
import type { Policy } from "./policy.ts";
import type { DefinitionKind } from "../renderer/renderer.ts";
import type { ServerSubject } from "./identity.ts";
import { serverTrust } from "./server-trust.ts";

/** The consent of a user to servers, definitions and calls. */
export interface Consent {
  /**
   * Resolves if the server may be started or connected to. Rejects with `Declined` if not, and with the reason of the signal if it
   * is aborted. Calls for the same server at once share one question.
   */
  requireTrust(this: void, subject: ServerSubject, signal: AbortSignal): Promise<void>;
  /**
   * Compares the definitions of a server with the accepted ones, asks for the changes, and returns those that can be used. Changed
   * definitions cannot be called from the start of this call on. Rejects only with the reason of the signal.
   */
  review(this: void, subject: ReviewSubject, signal: AbortSignal): Promise<ReviewOutcome>;
  /** Returns whether a definition is the one of the newest list of its server, and is accepted. */
  isUsable(this: void, server: string, kind: DefinitionKind, named: { name: string; definition: unknown }): boolean;
  /** Decides whether a tool may be called, and with which arguments. Rejects only with the reason of the signal. */
  readonly checkCall: CheckCall;
  /** Forgets the denials of this session for a server. Call it if the user reconnects the server. */
  forgetDenials(this: void, server: string): void;
  /**
   * Forgets the definitions and the answers of this session for a server that was removed. Another server with its name starts
   * without them.
   */
  forgetServer(this: void, server: string): void;
  /** Asks other questions of the host, such as forms of servers, one after another with those of consent. */
  readonly queue: QuestionQueue;
  /** Returns whether a question to the person has no answer yet. */
  isAsking(this: void): boolean;
}

/**
 * Returns the consent of one user. Throws a `TypeError` if a rule of the policy is not valid.
 *
 * Everything that is neither allowed nor answered is denied: without a method of the renderer, if the renderer throws, and if the
 * state cannot be read.
 */
export function createConsent(options: ConsentOptions): Consent {
  checkPolicy(options.policy);
  const parts = consentParts(options);
  const trust = serverTrust(parts);
  const definitions = definitionReview(parts);
  const calls = callConsent(parts, definitions);
  return {
    requireTrust: (subject, signal) => trust.require(subject, signal),
    review: (subject, signal) => definitions.review(subject, signal),
    isUsable: (server, kind, named) => definitions.isUsable(server, kind, named),
    checkCall: calls.check,
    forgetDenials(server) {
      trust.forgetDenials(server);
      definitions.forgetDenials(server);
    },
    forgetServer(server) {
      trust.forgetDenials(server);
      definitions.forget(server);
      calls.forget(server);
    },
    queue: parts.queue,
    isAsking: parts.isAsking,
  };
}

function checkPolicy({ rules = [], trust = "ask", review = "always" }: Policy): void {
  for (const [index, rule] of rules.entries()) {
    const problem = problemOfRule(rule);
    if (problem !== undefined) throw new TypeError(`Rule ${index} of the policy is not valid: ${problem}.`);
  }
  // A misspelled setting must not select the weaker behaviour of an `else`.
  if (trust !== "ask" && trust !== "configured") {
    throw new TypeError(`\`trust\` of the policy is ${JSON.stringify(trust)}. Use "ask" or "configured".`);
  }
  if (review !== "always" && review !== "changes") {
    throw new TypeError(`\`review\` of the policy is ${JSON.stringify(review)}. Use "always" or "changes".`);
  }
}
