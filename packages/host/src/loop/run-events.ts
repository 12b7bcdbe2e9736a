import type { JsonObject } from "mcparley";
import type { Conversation } from "../context/conversation-context.ts";
import type { CallActivity } from "../activity/call-activity.ts";
import type { Message, ToolResultPart } from "../conversation/messages.ts";
import type { Usage } from "../model/model-request.ts";

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
   * Maximum tokens of the model, input and output of all steps together. It is checked before each step, so the last step can exceed
   * it. Tokens are estimated if the provider reports none. Default: 1,000,000.
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
}

/** An event of a run. */
export type RunEvent =
  | { readonly type: "step"; readonly step: number }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | {
      readonly type: "call";
      readonly callId: string;
      /** The name of the tool for the model. */
      readonly name: string;
      /** Undefined for a tool of the host, such as the search for tools. */
      readonly server: string | undefined;
      readonly arguments: JsonObject;
    }
  | { readonly type: "activity"; readonly callId: string; readonly activity: CallActivity }
  | { readonly type: "result"; readonly callId: string; readonly result: ToolResultPart }
  | { readonly type: "usage"; readonly step: number; readonly usage: Usage }
  | { readonly type: "end"; readonly end: RunEnd };

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
  /** The conversation with the new messages. It is complete: each call has a result. */
  readonly messages: readonly Message[];
  /** The tokens of all steps. */
  readonly usage: Usage;
}
