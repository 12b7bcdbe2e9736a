import type { Clock, JsonObject } from "mcparley";
import type { ModelFinish, ModelPart, ModelRequest, Usage } from "../model/model-request.ts";
import type { FilePart, ReasoningPart, TextPart } from "../conversation/messages.ts";
import { settled } from "./run-stop.ts";
import { estimateTokens } from "../model/tokens.ts";
import { estimateMessages } from "./request-messages.ts";

/** Sends a request to the model. It ends or throws if the signal of the request is aborted. */
export type StreamModel = (request: ModelRequest) => AsyncIterable<ModelPart>;

/** A tool call as the model wrote it. */
export type WrittenCall = ModelPart & { readonly type: "tool-call" };

/** The answer of the model to one request. It is incomplete if `error` is set. */
export interface ModelAnswer {
  readonly parts: readonly (TextPart | ReasoningPart | FilePart | WrittenCall)[];
  readonly finish: ModelFinish | undefined;
  /** The tokens, as the provider reports them. Estimated if it reports none. */
  readonly usage: Usage;
  readonly error: Error | undefined;
}

export interface AskOptions {
  readonly stream: StreamModel;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with each part of text and reasoning. */
  readonly onText: (type: "text" | "reasoning", text: string) => void;
}

/** Sends a request to the model, and reads its answer. It never rejects. */
export async function askModel(
  request: ModelRequest,
  { stream, clock, signal, onText }: AskOptions,
): Promise<ModelAnswer> {
  const builder = answerBuilder();
  let finish: (ModelPart & { type: "finish" }) | undefined;
  let error: Error | undefined;
  let isAbandoned = false;

  const reading = (async () => {
    try {
      for await (const part of stream({ ...request, signal })) {
        if (isAbandoned || signal.aborted) return;
        if (part.type === "finish") finish = part;
        else builder.add(part);
        if ((part.type === "text" || part.type === "reasoning") && part.text !== "") onText(part.type, part.text);
      }
    } catch (thrown) {
      if (!isAbandoned) error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
  })();
  await settled(reading, { signal, clock });
  isAbandoned = true;

  if (!finish) error ??= new Error("The answer of the model ended without a finish part.");
  const parts = builder.parts({ isComplete: finish !== undefined });
  const isRefused = !finish && parts.length === 0 && !signal.aborted;
  // The tokens of a refused request are not counted by its provider.
  const usage = isRefused ? { inputTokens: 0, outputTokens: 0 } : usageOf(finish?.usage, request, parts);
  return { parts, finish: finish?.reason, usage, error };
}

/** Collects the parts of an answer. The pieces of a block of text or reasoning become one part. */
function answerBuilder(): {
  add(part: Exclude<ModelPart, { type: "finish" }>): void;
  parts(options: { isComplete: boolean }): ModelAnswer["parts"];
} {
  const blocks: Block[] = [];
  return {
    add(part) {
      if (part.type === "tool-call" || part.type === "file") blocks.push({ key: undefined, part });
      else addPiece(blocks, part);
    },
    parts({ isComplete }) {
      const parts = blocks.map(({ part }) => part);
      // Providers reject reasoning without its signature, which follows at the end.
      if (!isComplete && parts.at(-1)?.type === "reasoning") parts.pop();
      return parts.filter((part) => !("text" in part) || part.text !== "" || part.providerData !== undefined);
    },
  };
}

/** A part of the answer. Pieces with the same key belong to one part. */
interface Block {
  readonly key: string | undefined;
  part: ModelAnswer["parts"][number];
}

/** Adds a piece of text or reasoning to its block. Without numbers of blocks, a part of another type ends a block. */
function addPiece(blocks: Block[], piece: ModelPart & { type: "text" | "reasoning" }): void {
  const { type, text, providerData } = piece;
  const hasNumber = "block" in piece && piece.block !== undefined;
  const key = hasNumber ? `${type} ${String(Reflect.get(piece, "block"))}` : type;
  const before = hasNumber ? blocks.findLast((block) => block.key === key) : blocks.at(-1);
  if (before?.key === key && "text" in before.part) {
    before.part = withData({ type, text: before.part.text + text }, providerData ?? before.part.providerData);
  } else blocks.push({ key, part: withData({ type, text }, providerData) });
}

function withData(
  part: { type: "text" | "reasoning"; text: string },
  providerData: JsonObject | undefined,
): TextPart | ReasoningPart {
  return providerData === undefined ? part : { ...part, providerData };
}

/** Returns the reported usage. If the provider reports none, the tokens are estimated from the size of request and answer. */
function usageOf(reported: Usage | undefined, request: ModelRequest, parts: ModelAnswer["parts"]): Usage {
  if (reported && (reported.inputTokens > 0 || reported.outputTokens > 0)) return reported;
  const tools = estimateTokens(JSON.stringify(request.tools ?? []));
  const output = parts.map((part) => ("input" in part ? part.input : "text" in part ? part.text : ""));
  const inputTokens = estimateMessages(request.messages) + tools;
  return { inputTokens, outputTokens: estimateTokens(output.join("")), isEstimated: true };
}
