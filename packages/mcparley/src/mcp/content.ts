import type { JsonObject } from "../rpc/messages.ts";

/** The author of a message. */
export type Role = "user" | "assistant";

/** Returns whether a value is a role. */
export function isRole(value: unknown): value is Role {
  return value === "user" || value === "assistant";
}

/** Hints about content: its audience, its priority (0 to 1) and its last change (ISO 8601). */
export interface Annotations {
  /** The intended readers: the user, the model, or both. Default: not stated. */
  audience?: readonly Role[];
  /** Importance from 0 (optional) to 1 (required). */
  priority?: number;
  /** Time of the last change, ISO 8601. */
  lastModified?: string;
}

/** An icon. `src` is an https or data URI with untrusted content. */
export interface Icon {
  /** An https URL or a `data:` URI of the image. */
  src: string;
  /** MIME type. Default: that of the response to `src`. */
  mimeType?: string;
  /** Such as `["48x48"]`, or `["any"]` for formats that scale. */
  sizes?: readonly string[];
  /** The background for which the icon is made. Default: any. */
  theme?: "light" | "dark";
}

interface ContentBase {
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** Text in a message or in a tool's result. */
export interface TextContent extends ContentBase {
  type: "text";
  /** The text, for the model. */
  text: string;
}

/** An image in a message or in a tool's result. */
export interface ImageContent extends ContentBase {
  type: "image";
  /** Base64. */
  data: string;
  /** MIME type, such as `image/png`. */
  mimeType: string;
}

/** Audio in a message or in a tool's result. */
export interface AudioContent extends ContentBase {
  type: "audio";
  /** Base64. */
  data: string;
  /** MIME type, such as `audio/wav`. */
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
  /** URI of the resource, or of a part of it. */
  uri: string;
  /** MIME type of the text, if known. */
  mimeType?: string;
  /** The text of the resource, not encoded. */
  text: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Contents of a resource as Base64. */
export interface BlobResourceContents {
  /** URI of the resource, or of a part of it. */
  uri: string;
  /** MIME type of the bytes, if known. */
  mimeType?: string;
  /** Base64. */
  blob: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Contents of a resource, as text or as Base64. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource with its contents, in a message or in a tool's result. */
export interface EmbeddedResource extends ContentBase {
  type: "resource";
  /** The text or the Base64 bytes of the resource. */
  resource: ResourceContents;
}

/** One piece of content in a message or in a tool's result. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
