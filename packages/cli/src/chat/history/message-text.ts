import type { FilePart, TextPart } from "@mcparley/host";
import { showSize } from "../../terminal/show-content.ts";
import { visibleLine } from "../../terminal/text.ts";

/**
 * Returns the text of a part. A text of a server is returned without the label that the host put around it for the model, because
 * the origin is shown in another way.
 */
export function partText({ text, from }: TextPart): string {
  if (!from) return text;
  return /^<server-text [^\n]*>\n([\s\S]*)\n<\/server-text mark="[\da-f]+">$/.exec(text)?.[1] ?? text;
}

/** Returns one line that describes a file: its name, type and size. */
export function fileText({ mediaType, filename, data }: FilePart): string {
  const name = filename === undefined ? "" : `${filename}, `;
  return visibleLine(`[file: ${name}${mediaType}, ${showSize(Buffer.byteLength(data, "base64"))}]`);
}

/** Returns the text of a result: its texts without labels, and a line for each file. */
export function resultText(content: readonly (TextPart | FilePart)[]): string {
  return content.map((part) => (part.type === "text" ? partText(part) : fileText(part))).join("\n");
}
