import { labelServerText, serverTextRules, cutBytes, utf8Bytes } from "../conversation/server-text.ts";
import type { Message, ToolCallPart, ToolResultPart } from "../conversation/messages.ts";
import { hostResult } from "../conversation/tool-results.ts";

/** The instructions of a server for the use of its tools. */
export interface ServerInstructions {
  readonly server: string;
  readonly text: string;
}

/** Maximum bytes of the instructions of one server. */
const MAX_INSTRUCTIONS_BYTES = 2 * 1024;

/**
 * Returns the system prompt: the caller's instructions, the explanation of the labels, and then the labelled instructions of the
 * servers. The instructions of each server are cut after 2 KiB.
 */
export function systemPrompt(system: string | undefined, instructions: readonly ServerInstructions[]): string {
  const labels = instructions
    .filter(({ text }) => text.trim() !== "")
    .map(({ server, text }) =>
      labelServerText({ kind: "instructions", origin: { server, name: "instructions" }, text: shorten(text) }),
    );
  return [...(system ? [system] : []), serverTextRules, ...labels].join("\n\n");
}

function shorten(text: string): string {
  return utf8Bytes(text) <= MAX_INSTRUCTIONS_BYTES ? text : `${cutBytes(text, MAX_INSTRUCTIONS_BYTES)}…`;
}

/**
 * Returns the conversation in a form that model providers accept: each call has exactly one result in the message after it, and no
 * text or message is empty.
 *
 * A conversation that was stored during a call lacks results. The added ones state that the call was interrupted. Results without a
 * call, second results of a call, and empty texts are removed.
 */
export function completeMessages(messages: readonly Message[]): Message[] {
  const complete: Message[] = [];
  let open: readonly ToolCallPart[] = [];
  let results: ToolResultPart[] = [];
  const closeCalls = (): void => {
    if (open.length > 0) complete.push({ role: "tool", content: resultsOf(open, results) });
    [open, results] = [[], []];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(...message.content);
      continue;
    }
    closeCalls();
    const nonEmptyMessage = withoutEmptyTexts(message);
    if (!nonEmptyMessage) continue;
    complete.push(nonEmptyMessage);
    if (nonEmptyMessage.role === "assistant")
      open = nonEmptyMessage.content.filter((part) => part.type === "tool-call");
  }
  closeCalls();
  return complete;
}

/** Returns one result for each call: the given results in their order, and then the missing ones. */
function resultsOf(calls: readonly ToolCallPart[], parts: readonly ToolResultPart[]): ToolResultPart[] {
  const openCalls = new Map(calls.map((call) => [call.callId, call]));
  const results = parts.filter(({ callId }) => openCalls.delete(callId));
  const missing = [...openCalls.values()].map((call) =>
    hostResult(call, "The call was interrupted. The server may have run it."),
  );
  return [...results, ...missing];
}

type Spoken = Exclude<Message, { role: "tool" }>;

/** Returns a message without its empty texts, or undefined if nothing is left. Providers reject both. */
function withoutEmptyTexts(message: Spoken): Spoken | undefined {
  const { role, content } = message;
  if (typeof content === "string") return content === "" ? undefined : message;
  if (content.length > 0 && content.every(isFilled)) return message;
  const parts = content.filter(isFilled);
  return parts.length > 0 ? ({ role, content: parts } as Spoken) : undefined;
}

/** Whether a part has content. An empty text with data of the provider must be sent back. */
function isFilled(part: Exclude<Spoken["content"], string>[number]): boolean {
  return !("text" in part) || part.text !== "" || part.providerData !== undefined;
}
