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

/** Makes text content with annotations. Without annotations, a plain string is enough. */
export function text(value: string, annotations?: Annotations): TextContent {
  return annotations ? { type: "text", text: value, annotations } : { type: "text", text: value };
}

/** Makes image content from bytes or a base64 string. */
export function image(data: Uint8Array | string, mimeType: string, annotations?: Annotations): ImageContent {
  const content: ImageContent = { type: "image", data: asBase64(data), mimeType };
  if (annotations) content.annotations = annotations;
  return content;
}

/** Makes audio content from bytes or a base64 string. */
export function audio(data: Uint8Array | string, mimeType: string, annotations?: Annotations): AudioContent {
  const content: AudioContent = { type: "audio", data: asBase64(data), mimeType };
  if (annotations) content.annotations = annotations;
  return content;
}

/** Makes a link to a resource that the client can read or subscribe to. */
export function link(
  uri: string,
  details: Omit<ResourceLink, "type" | "uri" | "name"> & { name?: string } = {},
): ResourceLink {
  return { type: "resource_link", uri, name: uri, ...details };
}

/** Embeds the contents of a resource. Bytes are encoded as base64. */
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

/** Makes a prompt message of the user. A string becomes text content. */
export function user(content: string | ContentBlock): PromptMessage {
  return { role: "user", content: typeof content === "string" ? text(content) : content };
}

/** Makes a prompt message of the assistant. A string becomes text content. */
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
  return [isContent(value) ? value : { type: "text", text: JSON.stringify(value) }];
}

/** Whether a value is a content block. */
export function isContent(value: unknown): value is ContentBlock {
  if (typeof value !== "object" || value === null) return false;
  const { type, text, data, uri, resource } = value as Record<string, unknown>;
  if (type === "text") return typeof text === "string";
  if (type === "image" || type === "audio") return typeof data === "string";
  return type === "resource_link" ? typeof uri === "string" : type === "resource" && typeof resource === "object";
}
