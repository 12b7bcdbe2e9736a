import { isDeepStrictEqual } from "node:util";
import { type CallToolResult, readContent } from "mcparley/client";
import type { ToolOutcome } from "./tool-outcome.ts";
import type { FilePart, TextOrigin, TextPart, ToolResultPart } from "./messages.ts";
import { type TextLimits, serverTextParts } from "./long-text.ts";
import { type ReadContent, readBlocks } from "./server-content.ts";
import { escapeTags } from "./server-text.ts";
import { withoutDeepLevels } from "../values/map-texts.ts";

/** A call whose outcome becomes a part of the conversation. */
export interface ResultOf {
  readonly callId: string;
  /** The name in the call of the model. */
  readonly name: string;
  /** The server, and the name of the tool at the server. */
  readonly origin: TextOrigin;
}

/**
 * Returns the outcome of a call for the conversation. Texts of the server are labelled with their origin, and long texts become
 * handles.
 */
export function toResultPart(call: ResultOf, outcome: ToolOutcome, limits: TextLimits): ToolResultPart {
  const labelled = (text: string): TextPart[] => serverTextParts({ kind: "result", origin: call.origin, text }, limits);
  if (outcome.status === "denied") {
    return hostResult(call, `The call was not run, because consent was denied. ${outcome.message}`);
  }
  if (outcome.status === "failed") {
    const effect = outcome.mayHaveRun ? "The server may have run it." : "The server did not run it.";
    const remark: TextPart = { type: "text", text: `The call failed. ${effect}` };
    return part(call, [remark, ...labelled(outcome.message)], true);
  }
  const { result, mismatch } = outcome;
  try {
    const { text, files, effect } =
      mismatch === undefined ? { ...readResult(result), effect: "" } : readUnchecked(result);
    const isEmpty = text === "" && files.length === 0;
    const texts = isEmpty
      ? [{ type: "text" as const, text: "The tool returned no content." }]
      : text === ""
        ? []
        : labelled(text);
    const remarks = mismatch === undefined ? [] : [uncheckedRemark(effect, mismatch)];
    return part(call, [...texts, ...files, ...remarks], result.isError === true);
  } catch (error) {
    // The server has run the call, and a model that does not know it would repeat the call.
    const reason = error instanceof Error ? error.message : String(error);
    return hostResult(call, `The host failed to read the result. The server may have run the call. ${reason}`);
  }
}

/** Returns the remark for a result whose structured content does not match the output schema. */
function uncheckedRemark(effect: string, mismatch: string): TextPart {
  return { type: "text", text: escapeTags(`The server has run the call. ${effect} ${mismatch}`) };
}

/** Reads a result without its structured content, unless it has nothing else. `effect` states which of both the model receives. */
function readUnchecked({ content, structuredContent }: CallToolResult): ReadContent & { readonly effect: string } {
  const read = readBlocks(content);
  if (read.text !== "" || read.files.length > 0 || structuredContent === undefined) {
    return { ...read, effect: "Its content was not checked, and its structured content was left out." };
  }
  return { ...readResult({ content: [], structuredContent }), effect: "Its structured content was not checked." };
}

/** Returns a result that the host wrote, such as an error before the call. */
export function hostResult(call: Pick<ResultOf, "callId" | "name">, text: string, isError = true): ToolResultPart {
  // The text can contain names and definitions of servers.
  return part(call, [{ type: "text", text: escapeTags(text) }], isError);
}

function part(
  { callId, name }: Pick<ResultOf, "callId" | "name">,
  content: readonly (TextPart | FilePart)[],
  isError: boolean,
): ToolResultPart {
  return { type: "tool-result", callId, name, content, isError };
}

function readResult({ content, structuredContent }: CallToolResult): ReadContent {
  const blocks = readContent(content);
  const { text, files } = readBlocks(blocks);
  if (
    structuredContent === undefined ||
    blocks.some((block) => block.type === "text" && isJsonOf(block.text, structuredContent))
  ) {
    return { text, files };
  }
  const json = JSON.stringify(withoutDeepLevels(structuredContent));
  return { text: text === "" ? json : `${text}\n${json}`, files };
}

/** Length up to which a text is parsed to find out whether it repeats the structured content. */
const MAX_PARSED_LENGTH = 1024 * 1024;

/** Whether a text is the JSON of the structured content, which servers repeat for old clients. */
function isJsonOf(text: string, structuredContent: unknown): boolean {
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return false;
  if (text.length > MAX_PARSED_LENGTH) return /^\s*[[{]/.test(text);
  try {
    return isDeepStrictEqual(JSON.parse(text), structuredContent);
  } catch {
    return false;
  }
}
