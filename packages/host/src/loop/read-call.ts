import type { JsonObject } from "mcparley";
import type { Catalogue, CatalogueTool } from "../catalogue/catalogue.ts";
import type { ToolCallPart } from "../conversation/messages.ts";
import type { JoinedPart } from "../model/stream-parts.ts";
import { readResultTool } from "./read-result.ts";
import { isObject } from "@mcparley/internal/is-object";
import { CALL_TOOL, SEARCH_TOOL } from "../search/search-prompt.ts";
import { isWithinDepth } from "../values/map-texts.ts";
import { closeNames } from "./stable-tools.ts";

/** A tool call as the model wrote it. */
type WrittenCall = Extract<JoinedPart, { type: "tool-call" }>;

/** Reads the arguments of a call, which the model wrote as JSON text, by the schema of the tool. */
export type ReadArguments = (text: string, tool: CatalogueTool) => ReadResult;

/** The arguments, or a sentence for the model that wrote them. */
type ReadResult = { readonly arguments: JsonObject } | { readonly problem: string };

/** A call of the model, after its name and arguments were read. */
export interface ReadCall {
  /** Unique in the run. */
  readonly callId: string;
  /** The name in the conversation: the one that the model called, such as `call_tool`. */
  readonly name: string;
  /** The name of the tool that is called in effect. */
  readonly shownName: string;
  /** The arguments of that tool. */
  readonly arguments: JsonObject;
  readonly target: CallTarget;
  /** The call for the conversation. */
  readonly part: ToolCallPart;
}

/** The receiver of a call. */
type CallTarget =
  | { readonly kind: "tool"; readonly tool: CatalogueTool }
  | { readonly kind: "read_result"; readonly arguments: JsonObject }
  | { readonly kind: "search_tools"; readonly arguments: JsonObject }
  | { readonly kind: "problem"; readonly problem: string };

export interface CallReader {
  readonly catalogue: () => Catalogue;
  readonly readArguments: ReadArguments;
  readonly isSearching: boolean;
  /** Returns an id that is unique in the run. Some providers number the calls of each answer from 0. */
  readonly uniqueId: (callId: string) => string;
}

/** Reads a call of the model. A call that cannot be read becomes a problem for the model. */
export function readCall(call: WrittenCall, reader: CallReader): ReadCall {
  const callId = reader.uniqueId(call.callId);
  const { providerData } = call;
  const name = sendableName(call.name);
  const reading = findTarget(call, reader);
  const part: ToolCallPart = {
    type: "tool-call",
    callId,
    name,
    arguments: reading.writtenArguments,
    ...(providerData === undefined ? {} : { providerData }),
  };
  return { callId, name, shownName: reading.shownName, arguments: reading.arguments, target: reading.target, part };
}

/**
 * Returns the name of a call for the conversation. Providers reject each later request if a call has a name with other characters,
 * which a model can invent.
 */
function sendableName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "tool";
}

interface FoundTarget {
  readonly target: CallTarget;
  readonly shownName: string;
  readonly arguments: JsonObject;
  /** The arguments as the model wrote them, for the conversation. */
  readonly writtenArguments: JsonObject;
}

function findTarget({ name, input }: WrittenCall, reader: CallReader): FoundTarget {
  const isHostTool =
    name === readResultTool.name || (reader.isSearching && (name === SEARCH_TOOL || name === CALL_TOOL));
  if (!isHostTool) {
    const reading = findTool(name, (tool) => reader.readArguments(input, tool), reader);
    return reading.target.kind === "problem" ? { ...reading, writtenArguments: parseObject(input) ?? {} } : reading;
  }
  const args = parseObject(input);
  if (!args) return problem(name, `The arguments of ${name} must be a JSON object of at most ${MAX_DEPTH} levels.`);
  if (name === readResultTool.name) return hostTarget("read_result", args);
  if (name === SEARCH_TOOL) return hostTarget("search_tools", args);
  const innerCall = readCallTool(args);
  if ("problem" in innerCall) return { ...problem(name, innerCall.problem), writtenArguments: args };
  const read = (tool: CatalogueTool): ReadResult => readWrapped({ input, text: innerCall.text, tool }, reader);
  return { ...findTool(innerCall.name, read, reader), writtenArguments: args };
}

/**
 * Reads the arguments within the arguments of `call_tool`. They are read from the text of the model, because numbers that
 * JavaScript cannot represent would already have lost digits.
 */
function readWrapped(
  { input, text, tool }: { input: string; text: string | undefined; tool: CatalogueTool },
  { readArguments }: CallReader,
): ReadResult {
  if (text !== undefined) return readArguments(text, tool);
  const inputSchema = { type: "object", properties: { name: { type: "string" }, arguments: tool.inputSchema } };
  const read = readArguments(input, { ...tool, inputSchema });
  if ("problem" in read) return read;
  const { arguments: args = {} } = read.arguments;
  return isObject(args) ? { arguments: args } : { problem: "`arguments` must be an object." };
}

function hostTarget(kind: "read_result" | "search_tools", args: JsonObject): FoundTarget {
  return { target: { kind, arguments: args }, shownName: kind, arguments: args, writtenArguments: args };
}

function findTool(name: string, read: (tool: CatalogueTool) => ReadResult, reader: CallReader): FoundTarget {
  const catalogue = reader.catalogue();
  const tool = catalogue.tool(name);
  if (!tool) return problem(name, unknownTool(name, { catalogue, isSearching: reader.isSearching }));
  const reading = read(tool);
  if ("problem" in reading) return problem(name, reading.problem);
  const args = reading.arguments;
  return { target: { kind: "tool", tool }, shownName: name, arguments: args, writtenArguments: args };
}

function problem(shownName: string, text: string): FoundTarget {
  return { target: { kind: "problem", problem: text }, shownName, arguments: {}, writtenArguments: {} };
}

function unknownTool(name: string, { catalogue, isSearching }: { catalogue: Catalogue; isSearching: boolean }): string {
  const close = closeNames(name, catalogue);
  const names = close.length > 0 ? ` Close names: ${close.join(", ")}.` : "";
  const cure = isSearching ? ` Find tools with ${SEARCH_TOOL}.` : "";
  return `The tool ${JSON.stringify(name)} does not exist, or its server is no longer available.${names}${cure}`;
}

/** Maximum depth of arguments in the conversation. Providers and servers refuse deeper ones. */
const MAX_DEPTH = 64;

function parseObject(text: string): JsonObject | undefined {
  try {
    // An empty text stands for no arguments.
    const value: unknown = JSON.parse(text.trim() || "{}");
    return isObject(value) && isWithinDepth(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the arguments of `call_tool`. `text` is set if the model wrote the arguments of the tool as JSON text within the JSON.
 */
function readCallTool({
  name,
  arguments: args,
}: JsonObject): { name: string; text: string | undefined } | { problem: string } {
  if (typeof name !== "string" || name === "") return { problem: "`name` must be the name of a tool." };
  return { name, text: typeof args === "string" ? args : undefined };
}
