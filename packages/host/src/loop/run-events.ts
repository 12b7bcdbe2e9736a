import type { JsonObject } from "mcparley";
import type { Conversation } from "../context/conversation-context.ts";
import type { CallActivity } from "../activity/active-calls.ts";
import type { Message, ToolOutcome, ToolResultPart } from "../conversation/messages.ts";
import type { OriginUsage, TotalUsage } from "../values/usage.ts";

/** Options of `host.run`. */
export interface RunOptions {
  /** The conversation so far. It is not changed. Either `messages` or `conversation` is required. */
  readonly messages?: readonly Message[];
  /**
   * A conversation with attachments. Resources that have changed are read again before the first step, and the new messages are
   * added to it when the run ends.
   */
  readonly conversation?: Conversation;
  /** Instructions for the model, before those of the servers. */
  readonly system?: string;
  /** Maximum requests to the model. Default: 20. */
  readonly maxSteps?: number;
  /**
   * Maximum tokens of the model, input and output of all steps together, without sampling requests of servers. It is checked before
   * each step, so the last step can exceed it. Tokens are estimated if the provider reports none. Default: 1,000,000.
   */
  readonly maxTokens?: number;
  /** Maximum output tokens of one step. Default: that of the model. */
  readonly maxOutputTokens?: number;
  /** Maximum duration in milliseconds, without the time in which a person answers. Default: 30 minutes. */
  readonly maxTime?: number;
  /** Maximum bytes of a tool's result in the conversation. A longer one becomes a handle to read on. Default: 32 KiB. */
  readonly maxResultBytes?: number;
  /** Maximum tokens of all definitions of tools. If they have more, the model searches for tools. Default: 8,000. */
  readonly maxToolTokens?: number;
  /** Cancels the run and its calls. */
  readonly signal?: AbortSignal;
}

/**
 * A running conversation: its events, in order, and its end. The events can be iterated once. A consumer that leaves the iteration
 * cancels the run. If the consumer is slower than the run, adjacent texts become one event.
 */
export interface Run extends AsyncIterable<RunEvent> {
  /** Resolves when the run ends. It never rejects: an error is the reason of the end. */
  readonly finished: Promise<RunEnd>;
  /** Cancels the run and its calls. */
  cancel(this: void): void;
  /**
   * Cancels the calls in flight, and returns their number. The model receives a result that names the user as the reason, and the run
   * continues. Calls that wait for an approval, an input request or their turn are cancelled too, and their questions are withdrawn. The
   * run waits at most 5 seconds for a call that ignores its cancellation. Calls that were cancelled before are not counted. Returns 0
   * and does nothing if no call is in flight.
   *
   * @example
   * ```ts
   * import type { Run } from "@mcparley/host";
   *
   * export function onInterrupt(run: Run): void {
   *   // The first Ctrl-C cancels the calls. The next one, or one without a call in flight, cancels the run.
   *   if (run.cancelCalls() === 0) run.cancel();
   * }
   * ```
   */
  cancelCalls(this: void): number;
}

/** An event of a run. */
export type RunEvent =
  | {
      readonly type: "step";
      /** The number of the step, from 1. */
      readonly step: number;
    }
  | {
      readonly type: "text";
      /** The next part of the text. */
      readonly text: string;
    }
  | {
      readonly type: "reasoning";
      /** The next part of the text. */
      readonly text: string;
    }
  | {
      readonly type: "call";
      /** The id of the call. */
      readonly callId: string;
      /** The name of the tool for the model. */
      readonly name: string;
      /** Undefined for a tool of the host, such as the search for tools. */
      readonly server: string | undefined;
      /** The arguments of the call. */
      readonly arguments: JsonObject;
    }
  | {
      readonly type: "activity";
      /** The id of the call. */
      readonly callId: string;
      /** The event of the call. */
      readonly activity: CallActivity;
    }
  | {
      readonly type: "result";
      /** The id of the call. */
      readonly callId: string;
      /** The result, as the model receives it. */
      readonly result: ToolResultPart;
      /** The complete outcome, such as a long result or a file that models cannot read. Undefined if no server was called. */
      readonly outcome?: ToolOutcome;
    }
  | {
      readonly type: "usage";
      /** The number of the step, from 1. */
      readonly step: number;
      /** The tokens of the request of the step, or of a sampling request of a server during its calls. */
      readonly usage: OriginUsage;
    }
  | {
      readonly type: "end";
      /** The end of the run. */
      readonly end: RunEnd;
    };

/** The end of a run. */
export interface RunEnd {
  /**
   * - `answered`: the model gave its answer
   * - `steps`, `tokens`, `time`: a limit was reached
   * - `length`, `filtered`: the provider ended the answer
   * - `cancelled`: the caller cancelled
   * - `error`: the model failed; `error` is the reason
   */
  readonly reason: "answered" | "steps" | "tokens" | "time" | "length" | "filtered" | "cancelled" | "error";
  /** The reason of `error`. */
  readonly error?: Error;
  /** The conversation with the new messages, and without the `unanswered` one. It is complete: each call has a result. */
  readonly messages: readonly Message[];
  /**
   * The message of the user that was removed from the conversation, because the model failed before the first part of its answer. Add it
   * again to repeat the run. Only after an `error`.
   */
  readonly unanswered?: Message;
  /** The tokens of all steps, and of the sampling requests of servers during their calls. */
  readonly usage: TotalUsage;
}
