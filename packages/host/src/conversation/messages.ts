import type { JsonObject } from "mcparley";
import type { CallToolResult } from "mcparley/client";

/** A message of a conversation. It is JSON, so a conversation can be stored. */
export type Message =
  | {
      readonly role: "system";
      /** The content of the message. */
      readonly content: string;
    }
  | {
      readonly role: "user";
      /** The content of the message. */
      readonly content: string | readonly (TextPart | FilePart)[];
    }
  | {
      readonly role: "assistant";
      /** The content of the message. */
      readonly content: readonly AssistantPart[];
    }
  | {
      readonly role: "tool";
      /** The content of the message. */
      readonly content: readonly ToolResultPart[];
    };

/** A part of a message of the model. */
export type AssistantPart = TextPart | FilePart | ReasoningPart | ToolCallPart;

/** A text of the user, the model or a server. */
export interface TextPart {
  readonly type: "text";
  /** The text. A text of a server is labelled with its origin. */
  readonly text: string;
  /** The server that the text comes from. Undefined for text of the user and of the model. */
  readonly from?: TextOrigin;
  /** Data of the model provider, which must be sent back unchanged. */
  readonly providerData?: JsonObject;
}

/** The origin of a text in a conversation. */
export interface TextOrigin {
  /** The name of the server in the host. */
  readonly server: string;
  /** The URI of a resource, or the name of a prompt. */
  readonly name: string;
}

/** A file, such as an image. */
export interface FilePart {
  readonly type: "file";
  /** The media type, such as `image/png`. */
  readonly mediaType: string;
  /** The content in base64. */
  readonly data: string;
  /** The name of the file, which some providers show to the model. */
  readonly filename?: string;
  /** Data of the model provider, which must be sent back unchanged. */
  readonly providerData?: JsonObject;
}

/** The reasoning of the model before an answer or a call. */
export interface ReasoningPart {
  readonly type: "reasoning";
  /** The text of the reasoning. Empty if the provider sends only data. */
  readonly text: string;
  /** Data of the model provider, which must be sent back unchanged. */
  readonly providerData?: JsonObject;
}

/** A tool call of the model. */
export interface ToolCallPart {
  readonly type: "tool-call";
  /** Unique in the conversation. */
  readonly callId: string;
  /** The name of the tool for the model. */
  readonly name: string;
  /** The arguments of the call. */
  readonly arguments: JsonObject;
  /** Data of the model provider, which must be sent back unchanged. */
  readonly providerData?: JsonObject;
}

/** The result of a tool call. Each call has exactly one, in the message after it. */
export interface ToolResultPart {
  readonly type: "tool-result";
  /** The id of the call. */
  readonly callId: string;
  /** The name of the tool in the call. */
  readonly name: string;
  /** The content for the model. Texts of servers are labelled. */
  readonly content: readonly (TextPart | FilePart)[];
  /** Whether the call failed, was denied, or returned a tool error. */
  readonly isError: boolean;
}

/** The outcome of a tool call. Each has a text for the model if the call gave no result. */
export type ToolOutcome =
  | {
      readonly status: "result";
      /** The result of the server. */
      readonly result: CallToolResult;
      /**
       * The reason why the structured content does not match the output schema of the tool. Undefined if it does. The result still has
       * the structured content. The model receives the rest of the result, with a remark that it is not checked.
       */
      readonly mismatch?: string;
      /** The arguments that were sent, if the user edited them. */
      readonly editedArguments?: JsonObject;
    }
  /** Consent was not given. The server received nothing. */
  | {
      readonly status: "denied";
      /** The reason, for the model. */
      readonly message: string;
    }
  /** The call failed. `mayHaveRun` is true if the server may have run it. */
  | {
      readonly status: "failed";
      /** The reason, for the model. */
      readonly message: string;
      /** The error of the call. */
      readonly error: Error;
      /** Whether the server may have run the tool. */
      readonly mayHaveRun: boolean;
    };
