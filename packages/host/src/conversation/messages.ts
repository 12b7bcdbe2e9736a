import type { JsonObject } from "mcparley";

/** A message of a conversation. It is JSON, so a conversation can be stored. */
export type Message =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly (TextPart | FilePart)[] }
  | { readonly role: "assistant"; readonly content: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] };

export type AssistantPart = TextPart | FilePart | ReasoningPart | ToolCallPart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** The server that the text comes from. Undefined for text of the user and of the model. */
  readonly from?: TextOrigin;
  /** Data of the model provider, which must be sent back unchanged. */
  readonly providerData?: JsonObject;
}

/** The origin of a text in a conversation. */
export interface TextOrigin {
  readonly server: string;
  /** The URI of a resource, or the name of a prompt. */
  readonly name: string;
}

export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  /** The content in base64. */
  readonly data: string;
  readonly filename?: string;
  readonly providerData?: JsonObject;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly providerData?: JsonObject;
}

export interface ToolCallPart {
  readonly type: "tool-call";
  readonly callId: string;
  /** The name of the tool for the model. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly providerData?: JsonObject;
}

export interface ToolResultPart {
  readonly type: "tool-result";
  readonly callId: string;
  readonly name: string;
  readonly content: readonly (TextPart | FilePart)[];
  readonly isError: boolean;
}
