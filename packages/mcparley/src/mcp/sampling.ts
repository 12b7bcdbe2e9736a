import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { AudioContent, ContentBlock, ImageContent, Role, TextContent } from "./content.ts";
import type { Tool } from "./tools.ts";

/** A tool call that the model requests. */
export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: JsonObject;
  _meta?: JsonObject;
}

/** The result of a tool use. A message with one contains only tool results. */
export interface ToolResultContent {
  type: "tool_result";
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
}

/** One piece of content in a sampling message. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** A message that is sent to the client's model, or that the model returned. */
export interface SamplingMessage {
  role: Role;
  content: SamplingContent | SamplingContent[];
  _meta?: JsonObject;
}

/** The preferences of the server, with priorities from 0 to 1. The client decides. */
export interface ModelPreferences {
  hints?: { name?: string }[];
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

/** Params of `sampling/createMessage`. */
export interface CreateMessageParams {
  messages: SamplingMessage[];
  maxTokens: number;
  systemPrompt?: string;
  modelPreferences?: ModelPreferences;
  temperature?: number;
  stopSequences?: string[];
  includeContext?: "none" | "thisServer" | "allServers";
  tools?: Tool[];
  toolChoice?: { mode?: "auto" | "required" | "none" };
  metadata?: JsonObject;
  _meta?: JsonObject;
}

/** The result of `sampling/createMessage`: a message of the client's model. */
export interface CreateMessageResult {
  role: Role;
  content: SamplingContent | SamplingContent[];
  model: string;
  stopReason?: string;
  _meta?: JsonObject;
}

/** Validates the result of `sampling/createMessage`. */
export function readCreateMessageResult(result: unknown): CreateMessageResult {
  const readable =
    isObject(result) &&
    (result.role === "user" || result.role === "assistant") &&
    typeof result.model === "string" &&
    (isObject(result.content) || Array.isArray(result.content));
  if (readable) return result as unknown as CreateMessageResult;
  throw new LocalError(
    "invalid_message",
    'The client answered sampling/createMessage without "role", "model" and "content".',
  );
}

/**
 * Returns the first error in the order of tool uses and results in a conversation, if there is one.
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
    if (results.length > 0 && !open) return `messages[${index}] holds a tool result without a tool use before it`;
    if (open && !sameIds(open, results))
      return `messages[${index}] must hold exactly the results of the tool uses before it`;
    const uses = blocks.filter((block) => block.type === "tool_use");
    open = message.role === "assistant" && uses.length > 0 ? new Set(uses.map((use) => use.id)) : undefined;
  }
  return open ? "the last message holds tool uses without their results" : undefined;
}

function sameIds(open: Set<string>, results: ToolResultContent[]): boolean {
  const ids = new Set(results.map((result) => result.toolUseId));
  return ids.size === open.size && [...open].every((id) => ids.has(id));
}
