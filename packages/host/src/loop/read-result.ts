import { Buffer } from "node:buffer";
import type { JsonObject } from "mcparley";
import type { ModelTool } from "../model/model-request.ts";
import type { TextPart } from "../conversation/messages.ts";
import { readPart, type KeptText, type ResultStore, labelServerText } from "../conversation/server-text.ts";

/** The result of a tool of the host. */
export interface HostToolResult {
  readonly content: readonly TextPart[];
  readonly isError: boolean;
}

const DEFAULT_LENGTH = 8 * 1024;
const MAX_MATCHES = 20;
const MATCH_CONTEXT = 100;
const MAX_FIND_LENGTH = 200;

/** The tool with which the model reads texts that were too long for the conversation. It is part of each request. */
export const readResultTool: ModelTool = {
  name: "read_result",
  description:
    "Reads a part of a long result by its handle, or finds a text in it. Use it if a result says that it has a handle.",
  inputSchema: {
    type: "object",
    properties: {
      handle: { type: "string", description: "The handle, such as r_Zk3..." },
      offset: { type: "integer", description: "Offset of the first byte. Default: 0." },
      length: { type: "integer", description: `Number of bytes. Default: ${DEFAULT_LENGTH}.` },
      find: { type: "string", description: "Exact text to find from the offset. Returns the offsets of its matches." },
    },
    required: ["handle"],
    additionalProperties: false,
  },
};

/** Answers a call of `read_result`. The answer has at most `maxBytes` bytes of the text. */
export function readResult(
  args: JsonObject,
  { store, maxBytes }: { store: ResultStore; maxBytes: number },
): HostToolResult {
  const { handle, offset = 0, length = DEFAULT_LENGTH, find } = args;
  if (typeof handle !== "string") return problem("`handle` must be a string.");
  if (!isOffset(offset)) return problem("`offset` must be a whole number of bytes, 0 or more.");
  if (!isOffset(length) || length === 0) return problem("`length` must be a whole number of bytes, 1 or more.");
  if (find !== undefined && !(typeof find === "string" && find !== "" && find.length <= MAX_FIND_LENGTH)) {
    return problem(`\`find\` must be a text of 1 to ${MAX_FIND_LENGTH} characters.`);
  }
  const text = store.find(handle);
  if (!text) return problem("The handle is unknown or has expired. Call the tool again to get the result.");
  if (offset > text.content.length) return problem(`The text ends at byte ${text.content.length}.`);
  if (find !== undefined) return findText(text, { text: find, offset, maxBytes });
  return readText(text, { offset, length: Math.min(length, maxBytes) });
}

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function readText(keptText: KeptText, range: { offset: number; length: number }): HostToolResult {
  const { text, start, end } = readPart(keptText.content, range);
  const total = keptText.content.length;
  const note = end < total ? ` Read on with offset ${end}.` : " This is the end.";
  return answer(keptText, { text, remark: `Bytes ${start} to ${end} of ${total}.${note}` });
}

/** Finds a text, and returns the offset and the surroundings of each match. */
function findText(
  keptText: KeptText,
  { text: needleText, offset: startOffset, maxBytes }: { text: string; offset: number; maxBytes: number },
): HostToolResult {
  const { content } = keptText;
  const needle = Buffer.from(needleText, "utf8");
  const lines: string[] = [];
  let matchOffset = content.indexOf(needle, startOffset);
  for (
    let bytes = 0;
    matchOffset >= 0 && lines.length < MAX_MATCHES;
    matchOffset = content.indexOf(needle, matchOffset + needle.length)
  ) {
    const offset = Math.max(0, matchOffset - MATCH_CONTEXT);
    const { text } = readPart(content, { offset, length: matchOffset - offset + needle.length + MATCH_CONTEXT });
    const line = `${matchOffset}: ${text.replaceAll(/\s+/g, " ")}`;
    bytes += Buffer.byteLength(line);
    if (lines.length > 0 && bytes > maxBytes) break;
    lines.push(line);
  }
  if (lines.length === 0)
    return { content: [{ type: "text", text: `No match after byte ${startOffset}.` }], isError: false };
  const note = matchOffset < 0 ? " These are all matches." : ` Find more with offset ${matchOffset}.`;
  return answer(keptText, {
    text: lines.join("\n"),
    remark: `Offsets and surroundings of ${lines.length} matches.${note}`,
  });
}

function answer({ kind, origin }: KeptText, { text, remark }: { text: string; remark: string }): HostToolResult {
  const part: TextPart = { type: "text", text: labelServerText({ kind, origin, text }), from: origin };
  return { content: [part, { type: "text", text: remark }], isError: false };
}

function problem(text: string): HostToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
