import { randomUUID } from "node:crypto";
import type { Clock } from "mcparley";
import type { Awaitable } from "../values/types.ts";
import { ignoreErrors, toError } from "../values/errors.ts";
import type { Renderer } from "../renderer/renderer.ts";
import { type StateStorage, keyedHash } from "../state/state-storage.ts";
import type { DecisionRecord, Policy } from "./policy.ts";
import { type IdentifiedServer, type ServerSubject, identityOfEntry, identityOfTarget } from "./identity.ts";
import { unlessAborted } from "../async/timing.ts";

/** Options of `Consent`. */
export interface ConsentOptions {
  /** The rules and settings of the host's author. */
  readonly policy: Policy;
  /** Asks the person. The answer to a missing method is no. */
  readonly renderer: Renderer;
  /** Stores the user's rules, trust and pins. */
  readonly storage: StateStorage;
  /** Called with each decision. Its errors are ignored. */
  readonly onDecision: (decision: DecisionRecord) => void;
  /** Called with errors of the storage and of the renderer. The decision was no. Its errors are ignored. */
  readonly onError: (server: string | undefined, error: Error) => void;
  readonly clock: Clock;
  /** The environment in which programs are searched. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The options and functions that the parts of consent share. */
export interface ConsentParts extends Omit<ConsentOptions, "onDecision" | "onError" | "env"> {
  /** Returns the identity of a server, to which all consent is bound. Rejects for a URL that is not valid. */
  identify(this: void, subject: ServerSubject): Promise<IdentifiedServer>;
  readonly queue: QuestionQueue;
  /** Returns whether a question of the queue has no answer yet. */
  isAsking(this: void): boolean;
  /** Records a decision. */
  decide(this: void, decision: Omit<DecisionRecord, "at">): void;
  /** Reports an error. */
  report(this: void, server: string | undefined, error: Error): void;
  /**
   * Asks the person one question, after all earlier ones. Resolves with undefined, which means no, if the renderer throws. Rejects
   * with the reason of the signal if it is aborted.
   */
  ask<T>(this: void, server: string, question: () => Awaitable<T>, signal: AbortSignal): Promise<T | undefined>;
}

/** Returns the shared parts. */
export function consentParts(options: ConsentOptions): ConsentParts {
  const { onDecision, onError, env = process.env, ...sharedOptions } = options;
  const inOrder = createQuestionQueue();
  let open = 0;
  const queue: QuestionQueue = (question, signal) => {
    open++;
    return inOrder(question, signal).finally(() => open--);
  };
  const report = (server: string | undefined, error: Error): void => ignoreErrors(() => onError(server, error));
  // Without the key of the user, no stored consent applies, and consent of this session still does.
  const sessionKey = randomUUID();
  return {
    ...sharedOptions,
    async identify({ target, entry }) {
      if (!entry) return identityOfTarget(target, env);
      const hash = await keyedHash(sharedOptions.storage).catch((error: Error) => {
        report(undefined, error);
        return (digest: string) => `${sessionKey} ${digest}`;
      });
      return identityOfEntry(entry, hash(entry.digest));
    },
    queue,
    isAsking: () => open > 0,
    report,
    decide: (decision) => ignoreErrors(() => onDecision({ at: sharedOptions.clock.now(), ...decision })),
    async ask(server, question, signal) {
      try {
        return await queue(question, signal);
      } catch (error) {
        signal.throwIfAborted();
        report(server, toError(error));
        return undefined;
      }
    },
  };
}

/**
 * Asks one question after another, in the order of the calls.
 *
 * `ask` starts when all earlier questions are answered or aborted. The promise rejects with the reason of the signal as soon as it
 * is aborted, and the next question follows, also if `ask` does not settle. `ask` must not wait for another question of the queue.
 */
export type QuestionQueue = <T>(ask: () => Awaitable<T>, signal: AbortSignal) => Promise<T>;

/** Returns a queue of questions to one person. */
export function createQuestionQueue(): QuestionQueue {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(ask: () => Awaitable<T>, signal: AbortSignal): Promise<T> => {
    const earlier = last;
    const question = (async () => {
      await earlier;
      signal.throwIfAborted();
      return ask();
    })();
    const answer = unlessAborted(question, signal);
    // The next question waits for this answer, and for the questions before this one, also if this one is aborted earlier.
    last = earlier.then(() => answer).catch(() => {});
    return answer;
  };
}
