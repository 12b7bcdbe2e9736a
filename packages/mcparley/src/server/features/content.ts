import type {
  Annotations,
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "../../mcp/content.ts";
import type { PromptMessage } from "../../mcp/prompts.ts";
import { toBase64 } from "../../rpc/base64.ts";
import { isObject } from "../../rpc/messages.ts";
import { resultText } from "../../rpc/json-values.ts";

/**
 * Makes text content. A handler may return a plain string instead, unless the text has annotations.
 *
 * @example
 * ```ts
 * import { text, tool } from "mcparley/server";
 *
 * const status = tool({
 *   description: "Returns the status.",
 *   call: () => [text("All systems work."), text("Checked 3 services.", { audience: ["assistant"] })],
 * });
 * ```
 */
export function text(value: string, annotations?: Annotations): TextContent {
  return annotations ? { type: "text", text: value, annotations } : { type: "text", text: value };
}

/**
 * Makes image content from bytes or a base64 string.
 *
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { image, tool } from "mcparley/server";
 *
 * const chart = tool({
 *   description: "Returns the chart of today.",
 *   call: async () => image(await readFile("chart.png"), "image/png"),
 * });
 * ```
 */
export function image(data: Uint8Array | string, mimeType: string, annotations?: Annotations): ImageContent {
  const content: ImageContent = { type: "image", data: asBase64(data), mimeType };
  if (annotations) content.annotations = annotations;
  return content;
}

/**
 * Makes audio content from bytes or a base64 string. Revision 2024-11-05 has no audio: its clients receive text instead.
 *
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { audio, tool } from "mcparley/server";
 *
 * const bell = tool({
 *   description: "Returns the sound of the bell.",
 *   call: async () => audio(await readFile("bell.wav"), "audio/wav"),
 * });
 * ```
 */
export function audio(data: Uint8Array | string, mimeType: string, annotations?: Annotations): AudioContent {
  const content: AudioContent = { type: "audio", data: asBase64(data), mimeType };
  if (annotations) content.annotations = annotations;
  return content;
}

/**
 * Makes a link to a resource that the client can read or subscribe to. Its `name` is the URI by default.
 *
 * @example
 * ```ts
 * import { link, tool } from "mcparley/server";
 *
 * const report = tool({
 *   description: "Writes the report.",
 *   call: () => ["Written.", link("report://today", { mimeType: "text/markdown" })],
 * });
 * ```
 */
export function link(
  uri: string,
  details: Omit<ResourceLink, "type" | "uri" | "name"> & { name?: string } = {},
): ResourceLink {
  return { type: "resource_link", uri, name: uri, ...details };
}

/**
 * Embeds the contents of a resource in the result of a tool or prompt. Bytes are encoded as base64.
 *
 * @example
 * ```ts
 * import { embed, prompt } from "mcparley/server";
 *
 * const summarize = prompt({
 *   description: "Summarizes the report.",
 *   get: () => ["Summarize this:", embed("report://today", "# Report", { mimeType: "text/markdown" })],
 * });
 * ```
 */
export function embed(
  uri: string,
  data: string | Uint8Array,
  details: { mimeType?: string; annotations?: Annotations } = {},
): EmbeddedResource {
  const { mimeType, annotations } = details;
  const body = typeof data === "string" ? { text: data } : { blob: toBase64(data) };
  const resource: ResourceContents = mimeType === undefined ? { uri, ...body } : { uri, mimeType, ...body };
  return annotations ? { type: "resource", resource, annotations } : { type: "resource", resource };
}

/**
 * Makes a prompt message of the user. A string becomes text content.
 *
 * @example
 * ```ts
 * import { assistant, prompt, user } from "mcparley/server";
 *
 * const interview = prompt({
 *   description: "Starts an interview.",
 *   get: () => [user("Ask me about my work."), assistant("What do you do?")],
 * });
 * ```
 */
export function user(content: string | ContentBlock): PromptMessage {
  return { role: "user", content: typeof content === "string" ? text(content) : content };
}

/**
 * Makes a prompt message of the assistant. A string becomes text content.
 *
 * @example
 * ```ts
 * import { assistant, prompt } from "mcparley/server";
 *
 * const greeting = prompt({ description: "Greets the user.", get: () => [assistant("How can I help?")] });
 * ```
 */
export function assistant(content: string | ContentBlock): PromptMessage {
  return { role: "assistant", content: typeof content === "string" ? text(content) : content };
}

function asBase64(data: Uint8Array | string): string {
  return typeof data === "string" ? data : toBase64(data);
}

/** Converts a plain value to content: a string to text, content to itself, any other value to its JSON as text. */
export function toContent(value: unknown): ContentBlock[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((part) => typeof part === "string" || isContent(part))) {
    return value.flatMap(toContent);
  }
  return [isContent(value) ? value : { type: "text", text: resultText(value) }];
}

/** Whether a value is a content block. */
export function isContent(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  const { type, text, data, uri, resource } = value;
  if (type === "text") return typeof text === "string";
  if (type === "image" || type === "audio") return typeof data === "string";
  return type === "resource_link" ? typeof uri === "string" : type === "resource" && typeof resource === "object";
}
