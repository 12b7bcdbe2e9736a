import { CallConsent } from "./call-consent.ts";
import { type ConsentOptions, type QuestionQueue, consentParts } from "./consent-parts.ts";
import { DefinitionReview } from "./definition-review.ts";
import type { Policy } from "./policy.ts";
import { problemOfRule } from "./rules.ts";
import { ServerTrust } from "./server-trust.ts";

/**
 * The consent of a user to servers, definitions and calls.
 *
 * Everything that is neither allowed nor answered is denied: without a method of the renderer, if the renderer throws, and if the
 * state cannot be read.
 */
export class Consent {
  readonly trust: ServerTrust;
  readonly definitions: DefinitionReview;
  readonly calls: CallConsent;
  /** Asks other questions of the host, such as forms of servers, one after another with those of consent. */
  readonly queue: QuestionQueue;
  /** Returns whether a question to the person has no answer yet. */
  readonly isAsking: () => boolean;

  /** Throws a `TypeError` if a rule of the policy is not valid. */
  constructor(options: ConsentOptions) {
    checkPolicy(options.policy);
    const parts = consentParts(options);
    this.trust = new ServerTrust(parts);
    this.definitions = new DefinitionReview(parts);
    this.calls = new CallConsent(parts, this.definitions);
    this.queue = parts.queue;
    this.isAsking = parts.isAsking;
  }

  /** Forgets the denials of this session for a server. Call it if the user reconnects the server. */
  forgetDenials(server: string): void {
    this.trust.forgetDenials(server);
    this.definitions.forgetDenials(server);
  }

  /**
   * Forgets the definitions and the answers of this session for a server that was removed. Another server with its name starts
   * without them.
   */
  forgetServer(server: string): void {
    this.trust.forgetDenials(server);
    this.definitions.forget(server);
    this.calls.forget(server);
  }
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
