import type { AssistantPart, Message, ToolCallPart, ToolResultPart } from "../conversation/messages.ts";
import { hostResult } from "./tool-results.ts";

/**
 * Returns the conversation with a result for each call. A conversation that was stored during a call lacks results, and model providers
 * reject it. The missing results state that the call was interrupted.
 */
export function completeMessages(messages: readonly Message[]): Message[] {
  const complete: Message[] = [];
  let open: readonly ToolCallPart[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      complete.push({ role: "tool", content: [...message.content, ...missing(open, message.content)] });
      open = [];
      continue;
    }
    if (open.length > 0) complete.push({ role: "tool", content: missing(open, []) });
    complete.push(message);
    open = message.role === "assistant" ? message.content.filter(isCall) : [];
  }
  if (open.length > 0) complete.push({ role: "tool", content: missing(open, []) });
  return complete;
}

function isCall(part: AssistantPart): part is ToolCallPart {
  return part.type === "tool-call";
}

function missing(calls: readonly ToolCallPart[], results: readonly ToolResultPart[]): ToolResultPart[] {
  const ids = new Set(results.map(({ callId }) => callId));
  return calls
    .filter(({ callId }) => !ids.has(callId))
    .map((call) => hostResult(call, "The call was interrupted. The server may have run it."));
}
