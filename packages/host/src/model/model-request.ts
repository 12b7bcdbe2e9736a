import type { JsonObject } from "mcparley";
import type { Usage } from "../values/usage.ts";
import type { Message } from "../conversation/messages.ts";

/** A request to a model, independent of the version of its specification. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: "auto" | "required" | "none";
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/**
 * A part of a model's answer, in the order in which it arrives. The last one is `finish`.
 *
 * A text and a reasoning arrive in pieces. `joinPieces` makes one part of them.
 */
export type ModelPart =
  | {
      readonly type: "text" | "reasoning";
      /** The next piece of the text. It is empty if the part has only `providerData`. */
      readonly text: string;
      /** The number of the text in the answer. All pieces of a text have the same one. */
      readonly block?: number;
      /** Data of the model provider for the whole text. It replaces the data of earlier pieces. */
      readonly providerData?: JsonObject;
    }
  | { readonly type: "file"; readonly mediaType: string; readonly data: string; readonly providerData?: JsonObject }
  | {
      readonly type: "tool-call";
      readonly callId: string;
      readonly name: string;
      /** The arguments as the model wrote them: JSON text that may be invalid. */
      readonly input: string;
      readonly providerData?: JsonObject;
    }
  | {
      readonly type: "finish";
      readonly reason: ModelFinish;
      /** The reason in the words of the provider, such as `stop_sequence`. */
      readonly raw?: string;
      readonly usage: Usage;
    };

export type ModelFinish = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
