import { type ContentBlock, type ResourceContents, printable, printableJson, wellFormedJson } from "mcparley";
import type { View } from "./screen.ts";
import { visibleLine } from "./text.ts";

/** Binary data of a result in base64, with its type. */
export interface Binary {
  readonly data: string;
  readonly mimeType: string | undefined;
}

/** Returns the binary data of a content block, if it has any. */
export function binaryOf(block: ContentBlock): Binary | undefined {
  if (block.type === "image" || block.type === "audio") return { data: block.data, mimeType: block.mimeType };
  return block.type === "resource" ? binaryIn(block.resource) : undefined;
}

/** Returns the binary data of a resource, if it is not text. */
export function binaryIn(contents: ResourceContents): Binary | undefined {
  return "blob" in contents ? { data: contents.blob, mimeType: contents.mimeType } : undefined;
}

/** Formats a content block for a user: text unchanged, other content as a summary. */
export function showContent(block: ContentBlock, view: View): string {
  if (block.type === "text") return showText(block.text, view);
  if (block.type === "resource_link") return note(linkText(block), view);
  if (block.type === "resource") return showEmbedded(block.resource, view);
  return note(`${block.type} ${describe(block.data, block.mimeType)}`, view);
}

/** Returns text of a server: escaped on a terminal, unchanged in a pipe. */
export function showText(text: string, view: View): string {
  return view.terminal ? printable(text) : text;
}

/** Returns a value as JSON: with escapes on a terminal, and otherwise only well-formed. */
export function showJson(value: unknown, view: View): string {
  return view.terminal ? printableJson(value, 2) : wellFormedJson(value, 2);
}

/** Returns one line that describes binary content. */
export function summarize({ data, mimeType }: Binary, what: string, view: View): string {
  return note(`${what} ${describe(data, mimeType)}`, view);
}

function showEmbedded(contents: ResourceContents, view: View): string {
  const { uri, mimeType } = contents;
  if ("blob" in contents) return note(`resource ${uri} ${describe(contents.blob, mimeType)}`, view);
  return `${note(`resource ${uri}${mimeType === undefined ? "" : ` ${mimeType}`}`, view)}\n${showText(contents.text, view)}`;
}

function linkText(link: Extract<ContentBlock, { type: "resource_link" }>): string {
  const facts = [link.mimeType, link.size === undefined ? undefined : showSize(link.size)].filter((fact) => fact);
  const details = facts.length > 0 ? ` (${facts.join(", ")})` : "";
  const description = link.description === undefined ? "" : `: ${link.description}`;
  return `link ${link.title ?? link.name} <${link.uri}>${details}${description}`;
}

function describe(data: string, mimeType: string | undefined): string {
  return `${mimeType ?? "of unknown type"}, ${showSize(Buffer.byteLength(data, "base64"))}: --output FILE saves it`;
}

function note(text: string, view: View): string {
  return view.style.dim(`[${visibleLine(text)}]`);
}

/** Formats a number of bytes. */
export function showSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KiB"] : [bytes / 1024 ** 2, "MiB"];
  return `${Math.round(amount * 10) / 10} ${unit}`;
}
