import type { JsonObject } from "../rpc/messages.ts";

/** The author of a message. */
export type Role = "user" | "assistant";

/** Returns whether a value is a role. */
export function isRole(value: unknown): value is Role {
  return value === "user" || value === "assistant";
}

/** Hints about the audience, the priority and the age of content. */
export interface Annotations {
  /** The intended readers: the user, the model (`assistant`), or both. Default: not stated. */
  audience?: readonly Role[];
  /** Importance from 0 (optional) to 1 (required). */
  priority?: number;
  /** Time of the last change in ISO 8601, such as `2026-07-28T12:00:00Z`. */
  lastModified?: string;
}

/** An icon. Its content is not trusted, so do not execute scripts in an SVG image. */
export interface Icon {
  /** An https URL or a `data:` URI of the image. */
  src: string;
  /** MIME type of the image. Default: that of the response to `src`. */
  mimeType?: string;
  /** Sizes of the image, such as `["48x48"]`, or `["any"]` for formats that scale. Default: any. */
  sizes?: readonly string[];
  /** The background for which the icon is made. Default: any. */
  theme?: "light" | "dark";
}

interface ContentBase {
  /** Hints about the audience, priority and age of the content. Default: none. */
  annotations?: Annotations;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
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
  /** The bytes of the image in base64. */
  data: string;
  /** MIME type, such as `image/png`. */
  mimeType: string;
}

/** Audio in a message or in a tool's result. */
export interface AudioContent extends ContentBase {
  type: "audio";
  /** The bytes of the audio in base64. */
  data: string;
  /** MIME type, such as `audio/wav`. */
  mimeType: string;
}

/** The description of a resource in lists and links. */
export interface ResourceDescription {
  /** URI of the resource. Unique on a server. */
  uri: string;
  /** Name for programs. */
  name: string;
  /** Name for people. Default: `name`. */
  title?: string;
  /** Content and purpose of the resource, for the model. */
  description?: string;
  /** MIME type of the contents, if known. */
  mimeType?: string;
  /** Size in bytes, before any encoding. */
  size?: number;
  /** Icons to show for the resource. */
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

/** Contents of a resource as base64. */
export interface BlobResourceContents {
  /** URI of the resource, or of a part of it. */
  uri: string;
  /** MIME type of the bytes, if known. */
  mimeType?: string;
  /** The bytes in base64. */
  blob: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Contents of a resource, as text or as base64. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource with its contents, in a message or in a tool's result. */
export interface EmbeddedResource extends ContentBase {
  type: "resource";
  /** The text or the base64 bytes of the resource. */
  resource: ResourceContents;
}

/** One piece of content in a message or in a tool's result. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
