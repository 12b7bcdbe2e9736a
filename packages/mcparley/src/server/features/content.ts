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

/** Makes text content; only needed where annotations are wanted, since a plain string is text already. */
export function text(value: string, annotations?: Annotations): TextContent {
  return annotations ? { type: "text", text: value, annotations } : { type: "text", text: value };
}

/** Makes image content from bytes, or from a string that is base64 already. */
export function image(data: Uint8Array | string, mimeType: string, annotations?: Annotations): ImageContent {
  const content: ImageContent = { type: "image", data: asBase64(data), mimeType };
  if (annotations) content.annotations = annotations;
  return content;
}

/** Makes audio content from bytes, or from a string that is base64 already. */
export function audio(data: Uint8Array | string, mimeType: string, annotations?: Annotations): AudioContent {
  const content: AudioContent = { type: "audio", data: asBase64(data), mimeType };
  if (annotations) content.annotations = annotations;
  return content;
}

/** Makes a link to a resource, for the client to read or to subscribe to. */
export function link(
  uri: string,
  details: Omit<ResourceLink, "type" | "uri" | "name"> & { name?: string } = {},
): ResourceLink {
  return { type: "resource_link", uri, name: uri, ...details };
}

/** Embeds the contents of a resource: a string is text, bytes are base64-encoded. */
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

/** Makes a prompt message in the user's name; a string is text. */
export function user(content: string | ContentBlock): PromptMessage {
  return { role: "user", content: typeof content === "string" ? text(content) : content };
}

/** Makes a prompt message in the assistant's name; a string is text. */
export function assistant(content: string | ContentBlock): PromptMessage {
  return { role: "assistant", content: typeof content === "string" ? text(content) : content };
}

function asBase64(data: Uint8Array | string): string {
  return typeof data === "string" ? data : toBase64(data);
}
