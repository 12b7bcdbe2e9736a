import { Buffer } from "node:buffer";
import { type ContentBlock, type ResourceContents, readContent, readResourceContents } from "mcparley/client";
import { isLooseBase64 } from "@mcparley/internal/base64";
import type { FilePart } from "./messages.ts";

/** Content of a server: one text, and the files that a model can read. */
export interface ReadContent {
  readonly text: string;
  readonly files: readonly FilePart[];
}

/** Media types that all large model providers read. A file of another type could make each later request fail. */
const fileTypes = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "audio/wav",
  "audio/mpeg",
  "audio/mp3",
  "application/pdf",
]);
/** Maximum bytes of a file, and of all files of one result. */
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_FILES_BYTES = 20 * 1024 * 1024;
const MAX_FILES = 20;

/** Reads content blocks: the result of a tool, or the message of a prompt. Unknown and broken blocks become text. */
export function readBlocks(blocks: unknown): ReadContent {
  const reader = contentReader();
  for (const block of readContent(blocks)) reader.block(block);
  return reader.content();
}

/** Reads the contents of a resource. Broken parts become text. */
export function readContents(contents: unknown): ReadContent {
  const reader = contentReader();
  const parts = readResourceContents(contents);
  for (const part of parts) reader.resource(part, { hasHeading: parts.length > 1 });
  return reader.content();
}

interface ContentReader {
  block(block: ContentBlock): void;
  resource(resource: ResourceContents, options: { hasHeading: boolean }): void;
  content(): ReadContent;
}

function contentReader(): ContentReader {
  const texts: string[] = [];
  const files: FilePart[] = [];
  let fileBytes = 0;

  /** Adds a file, or a remark in its place. */
  function file({ data, mediaType = "", name }: { data: string; mediaType: string | undefined; name: string }): void {
    const bytes = Buffer.byteLength(data, "base64");
    const type = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    const reason = fileProblem({ data, type, bytes, count: files.length, before: fileBytes });
    if (reason !== undefined) {
      texts.push(`[${name}, ${mediaType || "no media type"}, ${bytes} bytes: left out, because ${reason}]`);
      return;
    }
    fileBytes += bytes;
    files.push({ type: "file", mediaType: type, data });
  }

  function resource(contents: ResourceContents, { hasHeading }: { hasHeading: boolean }): void {
    const { uri, mimeType } = contents;
    const text = "text" in contents ? contents.text : textOfBlob(contents.blob, mimeType);
    if (text === undefined && "blob" in contents) return file({ data: contents.blob, mediaType: mimeType, name: uri });
    if (hasHeading) texts.push(`Resource ${uri}${mimeType === undefined ? "" : ` (${mimeType})`}:`);
    texts.push(text ?? "");
  }

  return {
    resource,
    block(block) {
      if (block.type === "text") texts.push(block.text);
      else if (block.type === "resource") resource(block.resource, { hasHeading: true });
      else if (block.type === "resource_link") texts.push(linkLine(block));
      else file({ data: block.data, mediaType: block.mimeType, name: block.type });
    },
    content: () => ({ text: texts.join("\n"), files }),
  };
}

function linkLine({ uri, name, mimeType, description }: ContentBlock & { type: "resource_link" }): string {
  const type = mimeType === undefined ? "" : ` (${mimeType})`;
  return `Link to resource ${uri}, name ${name}${type}${description === undefined ? "" : `: ${description}`}`;
}

function fileProblem(file: {
  data: string;
  type: string;
  bytes: number;
  count: number;
  before: number;
}): string | undefined {
  if (!fileTypes.has(file.type)) return "models cannot read this media type";
  if (file.bytes > MAX_FILE_BYTES) return `a file may have ${MAX_FILE_BYTES} bytes`;
  if (file.count >= MAX_FILES) return `a result may have ${MAX_FILES} files`;
  if (file.before + file.bytes > MAX_FILES_BYTES)
    return `the files of a result may have ${MAX_FILES_BYTES} bytes in total`;
  if (file.bytes === 0 || !isLooseBase64(file.data)) return "its data is not base64";
  return undefined;
}

/** Returns the text of a blob with a media type of text. */
function textOfBlob(blob: string, mimeType: string | undefined): string | undefined {
  const type = mimeType?.split(";", 1)[0]?.trim().toLowerCase();
  const isText = type !== undefined && /^text\/|^application\/(?:.+\+)?(?:json|xml)$/.test(type);
  return isText ? Buffer.from(blob, "base64").toString("utf8") : undefined;
}
