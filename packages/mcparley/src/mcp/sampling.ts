import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import {
  type AudioContent,
  type ContentBlock,
  type ImageContent,
  type Role,
  type TextContent,
  isRole,
} from "./content.ts";
import type { Tool } from "./tools.ts";

/** A tool call that the model requests. */
export interface ToolUseContent {
  type: "tool_use";
  /** Identifies the call. Its result has the same value in `toolUseId`. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Arguments of the call. Not validated. */
  input: JsonObject;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The result of a tool use. A message with one contains only tool results. */
export interface ToolResultContent {
  type: "tool_result";
  /** The `id` of the tool call. */
  toolUseId: string;
  /** The content of the result, for the model. */
  content: ContentBlock[];
  /** The result as data, if the tool has an output schema. */
  structuredContent?: unknown;
  /** Whether the tool failed. Default: false. */
  isError?: boolean;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** One piece of content in a sampling message. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** A message that is sent to the client's model, or that the model returned. */
export interface SamplingMessage {
  /** The speaker: `user` or `assistant`. */
  role: Role;
  /** One block, or several: text, images, audio, tool calls and their results. */
  content: SamplingContent | SamplingContent[];
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The preferences of the server, with priorities from 0 to 1. The client decides. */
export interface ModelPreferences {
  /** Names of models or parts of them, the preferred first. */
  hints?: { name?: string }[];
  /** Importance of a low price, from 0 to 1. */
  costPriority?: number;
  /** Importance of a fast answer, from 0 to 1. */
  speedPriority?: number;
  /** Importance of a capable model, from 0 to 1. */
  intelligencePriority?: number;
}

/** Params of `sampling/createMessage`. */
export interface CreateMessageParams {
  /** The conversation, the oldest message first. */
  messages: SamplingMessage[];
  /** Maximum tokens of the answer. The client may use fewer. */
  maxTokens: number;
  /** System prompt. The client may change or ignore it. */
  systemPrompt?: string;
  /** Preferences for the choice of the model. The client may ignore them. */
  modelPreferences?: ModelPreferences;
  /** Randomness of the answer, in the range of the model. Default: that of the client. */
  temperature?: number;
  /** Texts at which the model stops. */
  stopSequences?: string[];
  /** Context of MCP servers to add. Requires the client capability `sampling.context` unless `none`. Default: none. */
  includeContext?: "none" | "thisServer" | "allServers";
  /** Tools that the model may call. Requires the client capability `sampling.tools`. Default: none. */
  tools?: Tool[];
  /** Whether the model must call a tool. Default mode: `auto`, the model decides. */
  toolChoice?: { mode?: "auto" | "required" | "none" };
  /** Settings for the provider of the model. Their format is that of the provider. */
  metadata?: JsonObject;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The result of `sampling/createMessage`: a message of the client's model. */
export interface CreateMessageResult {
  /** The speaker, `assistant`. */
  role: Role;
  /** The answer: one block, or several if it has tool calls. */
  content: SamplingContent | SamplingContent[];
  /** Name of the model that answered. */
  model: string;
  /** The reason of the end, such as `endTurn`, `maxTokens` or `toolUse`. */
  stopReason?: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Validates the result of `sampling/createMessage`. */
export function readCreateMessageResult(result: unknown): CreateMessageResult {
  if (isCreateMessageResult(result)) return result;
  const message = 'The response to sampling/createMessage must contain a valid "role", "model" and "content".';
  throw new LocalError("invalid_message", message);
}

function isCreateMessageResult(result: unknown): result is CreateMessageResult {
  return (
    isObject(result) &&
    isRole(result.role) &&
    typeof result.model === "string" &&
    (isObject(result.content) || Array.isArray(result.content))
  );
}

/**
 * Returns the first error in the order of tool uses and tool results of a conversation, or undefined if there is none.
 *
 * Every assistant message with tool uses must be followed by a user message that contains exactly their results
 * (client/sampling, Message Content Constraints).
 */
export function findToolImbalance(messages: readonly SamplingMessage[]): string | undefined {
  let open: Set<string> | undefined;
  for (const [index, message] of messages.entries()) {
    const blocks = Array.isArray(message.content) ? message.content : [message.content];
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length > 0 && results.length < blocks.length)
      return `messages[${index}] mixes tool results with other content`;
    if (results.length > 0 && !open) return `messages[${index}] contains a tool result without a tool use before it`;
    const answeredIds = new Set(results.map((result) => result.toolUseId));
    if (open && (answeredIds.size !== open.size || [...open].some((id) => !answeredIds.has(id))))
      return `messages[${index}] must contain exactly the results of the tool uses before it`;
    const uses = blocks.filter((block) => block.type === "tool_use");
    open = message.role === "assistant" && uses.length > 0 ? new Set(uses.map((use) => use.id)) : undefined;
  }
  return open ? "the last message contains tool uses without their results" : undefined;
}
