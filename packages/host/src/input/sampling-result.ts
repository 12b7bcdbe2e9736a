import type { SamplingContent } from "mcparley";
import type { CreateMessageParams, CreateMessageResult } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import type { ModelPart } from "../model/model-request.ts";
import { joinPieces, type JoinedPart } from "../model/stream-parts.ts";
import type { ToolNames } from "./tool-names.ts";

/** Returns the message for the server. Reasoning is left out, because MCP has no content for it. */
export function samplingResult(
  parts: readonly ModelPart[],
  { model, names, stopSequences }: { model: string; names: ToolNames } & Pick<CreateMessageParams, "stopSequences">,
): CreateMessageResult {
  const content = joinTexts(joinPieces(parts).flatMap((part) => contentOf(part, names)));
  const finish = parts.find((part) => part.type === "finish");
  const ended = stopReasonOf(finish, stopSequences);
  const stopReason = content.some(({ type }) => type === "tool_use") ? "toolUse" : ended;
  const [first] = content;
  return {
    role: "assistant",
    content: content.length === 1 && first && first.type !== "tool_use" ? first : content.length > 0 ? content : noText,
    model,
    ...(stopReason !== undefined && { stopReason }),
  };
}

const noText: SamplingContent = { type: "text", text: "" };

/** Joins texts that follow each other: before 2025-11-25 an answer has one block. */
function joinTexts(content: readonly SamplingContent[]): SamplingContent[] {
  const joined: SamplingContent[] = [];
  for (const block of content) {
    const before = joined.at(-1);
    if (block.type === "text" && before?.type === "text")
      joined.splice(-1, 1, { ...before, text: before.text + block.text });
    else joined.push(block);
  }
  return joined;
}

function contentOf(part: JoinedPart, names: ToolNames): SamplingContent[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "tool-call") {
    const { callId, name, input } = part;
    return [{ type: "tool_use", id: callId, name: names.forServer(name), input: readArguments(name, input) }];
  }
  if (part.type !== "file") return [];
  const { mediaType, data } = part;
  if (mediaType.startsWith("image/")) return [{ type: "image", mimeType: mediaType, data }];
  // MCP has no content for other files in a message of a model.
  return mediaType.startsWith("audio/") ? [{ type: "audio", mimeType: mediaType, data }] : [];
}

function readArguments(name: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new Error(`The model called the tool "${name}" with arguments that are not a JSON object. Repeat the request.`);
}

function stopReasonOf(
  finish: Extract<ModelPart, { type: "finish" }> | undefined,
  stopSequences: readonly string[] | undefined,
): string | undefined {
  switch (finish?.reason) {
    case "stop":
      // The specification of models has one reason for both. Some providers report the difference in their own words.
      return stopSequences && /stop_?sequence/i.test(finish.raw ?? "") ? "stopSequence" : "endTurn";
    case "length":
      return "maxTokens";
    case "content-filter":
      return "contentFilter";
    case "error":
      throw new Error("The model stopped because of an error.");
    default:
      return undefined;
  }
}
