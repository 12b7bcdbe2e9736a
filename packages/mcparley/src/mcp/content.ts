import type { JsonObject } from "../rpc/messages.ts";

/** The author of a message. */
export type Role = "user" | "assistant";

/** Hints about content: its audience, its priority (0 to 1) and its last change (ISO 8601). */
export interface Annotations {
  audience?: readonly Role[];
  priority?: number;
  lastModified?: string;
}

/** An icon. `src` is an https or data URI with untrusted content. */
export interface Icon {
  src: string;
  mimeType?: string;
  /** Such as `["48x48"]`, or `["any"]` for formats that scale. */
  sizes?: readonly string[];
  theme?: "light" | "dark";
}

interface ContentBase {
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** Text in a message or in a tool's result. */
export interface TextContent extends ContentBase {
  type: "text";
  text: string;
}

/** An image in a message or in a tool's result. */
export interface ImageContent extends ContentBase {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
}

/** Audio in a message or in a tool's result. */
export interface AudioContent extends ContentBase {
  type: "audio";
  /** Base64. */
  data: string;
  mimeType: string;
}

/** The description of a resource in lists and links. */
export interface ResourceDescription {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Size in bytes, before any encoding. */
  size?: number;
  icons?: readonly Icon[];
}

/** A link to a resource, without its contents. */
export interface ResourceLink extends ContentBase, ResourceDescription {
  type: "resource_link";
}

/** Contents of a resource as text. */
export interface TextResourceContents {
  uri: string;
  mimeType?: string;
  text: string;
  _meta?: JsonObject;
}

/** Contents of a resource as Base64. */
export interface BlobResourceContents {
  uri: string;
  mimeType?: string;
  /** Base64. */
  blob: string;
  _meta?: JsonObject;
}

/** Contents of a resource, as text or as Base64. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource with its contents, in a message or in a tool's result. */
export interface EmbeddedResource extends ContentBase {
  type: "resource";
  resource: ResourceContents;
}

/** One piece of content in a message or in a tool's result. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
