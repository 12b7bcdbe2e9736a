import type { JsonObject } from "mcparley";
import type { ModelFinish, ModelPart } from "./model-request.ts";
import { readUsage } from "./usage.ts";
import { isObject } from "@mcparley/internal/is-object";

/**
 * Returns a function that converts the parts of one stream, of both versions of the specification.
 *
 * These parts are ignored: `tool-input-*`, because the whole input follows in `tool-call`; calls that the provider runs and their
 * results, because the host must not run them; sources, metadata, warnings, raw chunks, and unknown types.
 */
export function partReader(): (part: JsonObject) => ModelPart[] {
  const block = blockNumbers();
  return (part) => {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return piece("text", part, block(part));
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return piece("reasoning", part, block(part));
      case "tool-call":
        return part.providerExecuted === true ? [] : [toolCall(part)];
      case "file":
        return file(part);
      case "finish":
        return [{ type: "finish", ...finishReason(part.finishReason), usage: readUsage(part.usage) }];
      default:
        return [];
    }
  };
}

/**
 * Joins the pieces of each text and reasoning of an answer. A piece without a block belongs to the piece before it. A text without
 * content and provider data is left out.
 */
export function joinPieces(pieces: Iterable<ModelPart>): JoinedPart[] {
  const blocks: { readonly block: number | undefined; part: JoinedPart }[] = [];
  for (const piece of pieces) {
    if (piece.type === "finish") continue;
    if (!isText(piece)) {
      blocks.push({ block: undefined, part: piece });
      continue;
    }
    const { block, ...part } = piece as TextPiece;
    const isSame = (candidate: (typeof blocks)[number]): boolean =>
      candidate.block === block && candidate.part.type === part.type;
    const openBlock = block === undefined ? blocks.slice(-1).find(isSame) : blocks.findLast(isSame);
    if (openBlock && isText(openBlock.part))
      openBlock.part = { ...openBlock.part, ...part, text: openBlock.part.text + part.text };
    else blocks.push({ block, part });
  }
  return blocks.map(({ part }) => part).filter((part) => !isText(part) || part.text !== "" || part.providerData);
}

type TextPiece = Extract<ModelPart, { type: "text" | "reasoning" }>;

/** A whole part of an answer. */
export type JoinedPart = Omit<TextPiece, "block"> | Exclude<ModelPart, { type: "finish" } | TextPiece>;

function isText<P extends ModelPart | JoinedPart>(part: P): part is P & { type: "text" | "reasoning" } {
  return part.type === "text" || part.type === "reasoning";
}

/** Numbers the blocks of a stream. A provider may use an id again after the end of its block. */
function blockNumbers(): (part: JsonObject) => number {
  const open = new Map<string, number>();
  let next = 0;
  return ({ type, id }) => {
    const [kind, event] = String(type).split("-");
    const key = `${kind} ${String(id)}`;
    const number = (event === "start" ? undefined : open.get(key)) ?? next++;
    if (event === "end") open.delete(key);
    else open.set(key, number);
    return number;
  };
}

function piece(type: "text" | "reasoning", part: JsonObject, block: number): ModelPart[] {
  const text = typeof part.delta === "string" ? part.delta : "";
  const data = providerData(part);
  return text === "" && !data.providerData ? [] : [{ type, text, block, ...data }];
}

function toolCall(part: JsonObject): ModelPart {
  const input = typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {});
  return {
    type: "tool-call",
    callId: String(part.toolCallId),
    name: String(part.toolName),
    input,
    ...providerData(part),
  };
}

function file(part: JsonObject): ModelPart[] {
  // Version 4 wraps the content of a file in an object.
  const data = isObject(part.data) && part.data.type === "data" ? part.data.data : part.data;
  const mediaType = String(part.mediaType);
  if (typeof data === "string") return [{ type: "file", mediaType, data, ...providerData(part) }];
  if (data instanceof Uint8Array) {
    return [{ type: "file", mediaType, data: Buffer.from(data).toString("base64"), ...providerData(part) }];
  }
  // The host connects to no address of a model's answer. The user can open the URL.
  const url: unknown = isObject(data) ? data.url : undefined;
  return url instanceof URL || typeof url === "string" ? [{ type: "text", text: String(url) }] : [];
}

function providerData({ providerMetadata }: JsonObject): { providerData?: JsonObject } {
  return isObject(providerMetadata) && Object.keys(providerMetadata).length > 0
    ? { providerData: providerMetadata }
    : {};
}

const reasons: ReadonlySet<unknown> = new Set<ModelFinish>([
  "stop",
  "length",
  "content-filter",
  "tool-calls",
  "error",
  "other",
]);

function finishReason(value: unknown): { reason: ModelFinish; raw?: string } {
  const { unified, raw } = isObject(value) ? value : { unified: value };
  const text = typeof raw === "string" ? { raw } : {};
  // The reason of version 4 for a stream that ended without a completion signal.
  if (unified === "interrupted") return { reason: "error", ...text };
  return { reason: reasons.has(unified) ? (unified as ModelFinish) : "other", ...text };
}
