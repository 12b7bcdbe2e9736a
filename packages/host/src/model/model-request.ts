import type { JsonObject } from "mcparley";
import type { Message } from "../loop/conversation.ts";
import type { Usage } from "../loop/run-events.ts";

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

/** A part of a model's answer, in the order in which it arrives. The last one is `finish`. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string; readonly providerData?: JsonObject }
  | { readonly type: "reasoning"; readonly text: string; readonly providerData?: JsonObject }
  | { readonly type: "file"; readonly mediaType: string; readonly data: string; readonly providerData?: JsonObject }
  | {
      readonly type: "tool-call";
      readonly callId: string;
      readonly name: string;
      /** The arguments as the model wrote them: JSON text that may be invalid. */
      readonly input: string;
      readonly providerData?: JsonObject;
    }
  | { readonly type: "finish"; readonly reason: ModelFinish; readonly usage: Usage };

export type ModelFinish = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
