import { toError } from "../values/errors.ts";
import { isBase64, isLooseBase64 } from "@mcparley/internal/base64";
import { Buffer } from "node:buffer";
import {
  type CallToolResult,
  readContent,
  type ContentBlock,
  type ResourceContents,
  readResourceContents,
} from "mcparley/client";
import type { ToolOutcome, FilePart, TextOrigin, TextPart, ToolResultPart } from "./messages.ts";
import { type TextLimits, serverTextParts, escapeTags } from "./server-text.ts";
import { isTextType, modelFileTypes, readMediaType } from "./media-types.ts";
import { structuredText } from "./structured-content.ts";

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
  const toLabelledParts = (text: string): TextPart[] =>
    serverTextParts({ kind: "result", origin: call.origin, text }, limits);
  if (outcome.status === "denied") {
    return hostResult(call, `The call was not run, because consent was denied. ${outcome.message}`);
  }
  if (outcome.status === "failed") {
    const effect = outcome.mayHaveRun ? "The server may have run it." : "The server did not run it.";
    const remark: TextPart = { type: "text", text: `The call failed. ${effect}` };
    return part(call, [remark, ...toLabelledParts(outcome.message)], true);
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
        : toLabelledParts(text);
    const remarks = mismatch === undefined ? [] : [uncheckedRemark(effect, mismatch)];
    return part(call, [...texts, ...files, ...remarks], result.isError === true);
  } catch (error) {
    // The server has run the call, and a model that does not know it would repeat the call.
    const reason = toError(error).message;
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
  const json = structuredText(structuredContent, blocks);
  return { text: [text, json].filter(Boolean).join("\n"), files };
}

/** Content of a server: one text, and the files that a model can read. */
export interface ReadContent {
  readonly text: string;
  readonly files: readonly FilePart[];
}

/** Maximum bytes of a file, and of all files of one result. */
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_FILES_BYTES = 20 * 1024 * 1024;
const MAX_FILES = 20;

/** Reads content blocks: the result of a tool, or the message of a prompt. Unknown and broken blocks become text. */
export function readBlocks(blocks: unknown): ReadContent {
  const reader = new ContentReader();
  for (const block of readContent(blocks)) reader.addBlock(block);
  return reader.content;
}

/** Reads the contents of a resource. Broken parts become text. */
export function readContents(contents: unknown): ReadContent {
  const reader = new ContentReader();
  const parts = readResourceContents(contents);
  for (const part of parts) reader.addResource(part, { hasHeading: parts.length > 1 });
  return reader.content;
}

class ContentReader {
  readonly #texts: string[] = [];
  readonly #files: FilePart[] = [];
  #fileBytes = 0;

  get content(): ReadContent {
    return { text: this.#texts.join("\n"), files: this.#files };
  }

  addBlock(block: ContentBlock): void {
    if (block.type === "text") this.#texts.push(block.text);
    else if (block.type === "resource") this.addResource(block.resource, { hasHeading: true });
    else if (block.type === "resource_link") this.#texts.push(linkLine(block));
    else this.#addFile(block.type, block.mimeType, block.data);
  }

  addResource(resource: ResourceContents, { hasHeading }: { hasHeading: boolean }): void {
    const { uri, mimeType } = resource;
    const text = "text" in resource ? resource.text : textOfBlob(resource.blob, mimeType);
    if (text === undefined && "blob" in resource) return this.#addFile(uri, mimeType, resource.blob);
    if (hasHeading) this.#texts.push(`Resource ${uri}${mimeType === undefined ? "" : ` (${mimeType})`}:`);
    this.#texts.push(text ?? "");
  }

  /** Adds a file, or a remark in its place. */
  #addFile(name: string, mediaType: string | undefined, data: string): void {
    const bytes = Buffer.byteLength(data, "base64");
    const type = readMediaType(mediaType);
    const problem = this.#fileProblem(type, bytes);
    const standardData = problem === undefined && standardBase64(data);
    if (!standardData) {
      const reason = problem ?? "its data is not base64";
      this.#texts.push(`[${name}, ${mediaType || "no media type"}, ${bytes} bytes: left out, because ${reason}]`);
      return;
    }
    this.#fileBytes += bytes;
    this.#files.push({ type: "file", mediaType: type, data: standardData });
  }

  #fileProblem(type: string, bytes: number): string | undefined {
    if (!modelFileTypes.has(type)) return "models cannot read this media type";
    if (bytes > MAX_FILE_BYTES) return `a file may have ${MAX_FILE_BYTES} bytes`;
    if (this.#files.length >= MAX_FILES) return `a result may have ${MAX_FILES} files`;
    if (this.#fileBytes + bytes > MAX_FILES_BYTES)
      return `the files of a result may have ${MAX_FILES_BYTES} bytes in total`;
    return undefined;
  }
}

function linkLine({ uri, name, mimeType, description }: ContentBlock & { type: "resource_link" }): string {
  const type = mimeType === undefined ? "" : ` (${mimeType})`;
  return `Link to resource ${uri}, name ${name}${type}${description === undefined ? "" : `: ${description}`}`;
}

/** Returns base64 in the form that providers accept. Undefined if the text is not base64. */
function standardBase64(data: string): string | undefined {
  if (isBase64(data)) return data;
  const digits = data.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return isLooseBase64(digits) ? Buffer.from(digits, "base64").toString("base64") : undefined;
}

/** Returns the text of a blob with a media type of text. */
function textOfBlob(blob: string, mimeType: string | undefined): string | undefined {
  return isTextType(readMediaType(mimeType)) ? Buffer.from(blob, "base64").toString("utf8") : undefined;
}
