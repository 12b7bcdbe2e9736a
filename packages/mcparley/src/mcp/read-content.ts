import { isObject } from "../rpc/messages.ts";
import { wellFormedJson } from "../rpc/well-formed.ts";
import {
  type Annotations,
  type ContentBlock,
  type ResourceContents,
  type ResourceLink,
  type TextContent,
  isRole,
} from "./content.ts";
import type { PromptMessage } from "./prompts.ts";

/**
 * Returns the content of a tool result or a message as valid blocks, in the same order. It never throws.
 *
 * A client does not check content, because a newer server can send other kinds of it. Use this function before you read the members of
 * blocks. A block that is unknown or broken becomes text of one line: `[content of the unknown type "video"]` and its JSON, which is
 * shortened. Optional members of a wrong type are left out. A text in place of the list becomes one block, and missing content none.
 *
 * @example
 * ```ts
 * import { connect, readContent } from "mcparley/client";
 *
 * await using client = await connect("https://example.com/mcp");
 * const { content } = await client.callToolResult("forecast", { city: "Oslo" });
 * for (const block of readContent(content)) console.log(block.type === "text" ? block.text : block.type);
 * ```
 */
export function readContent(content: unknown): ContentBlock[] {
  return listOf(content).map(readBlock);
}

/**
 * Returns the contents of a resource as valid parts, in the same order. It never throws. A broken part becomes a text of one line. See
 * `readContent`.
 *
 * @example
 * ```ts
 * import { connect, readResourceContents } from "mcparley/client";
 *
 * await using client = await connect("https://example.com/mcp");
 * const { contents } = await client.readResource("file:///readme.md");
 * for (const part of readResourceContents(contents)) console.log("text" in part ? part.text : part.blob.length);
 * ```
 */
export function readResourceContents(contents: unknown): ResourceContents[] {
  return listOf(contents).map((part) => (typeof part === "string" ? { uri: "", text: part } : readPart(part)));
}

/**
 * Returns the messages of a prompt with valid content, in the same order. It never throws. A message with several blocks becomes
 * several messages, and an unknown role becomes `user`. See `readContent`.
 *
 * @example
 * ```ts
 * import { connect, readPromptMessages } from "mcparley/client";
 *
 * await using client = await connect("https://example.com/mcp");
 * const { messages } = await client.getPrompt("review", { language: "TypeScript" });
 * for (const { role, content } of readPromptMessages(messages)) console.log(role, content.type);
 * ```
 */
export function readPromptMessages(messages: unknown): PromptMessage[] {
  return listOf(messages).flatMap((message): PromptMessage[] => {
    const isMessage = isObject(message) && "content" in message;
    const role = isMessage && isRole(message.role) ? message.role : "user";
    return readContent(isMessage ? message.content : [message]).map((content) => ({ role, content }));
  });
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null || value === "" ? [] : [value];
}

function readBlock(block: unknown): ContentBlock {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isObject(block)) return { type: "text", text: `[content that is not an object] ${outlineOf(block)}` };
  const { type, text, data, mimeType, uri, resource } = block;
  switch (type) {
    case "text":
      return typeof text === "string" ? withValid({ ...block, type, text }) : broken(block);
    case "image":
    case "audio": {
      const media = typeof mimeType === "string" ? mimeType : "application/octet-stream";
      return typeof data === "string" ? withValid({ ...block, type, data, mimeType: media }) : broken(block);
    }
    case "resource_link":
      return typeof uri === "string" ? withValid(readLink({ ...block, uri })) : broken(block);
    case "resource":
      return isReadable(resource) ? withValid({ ...block, type, resource: readPart(resource) }) : broken(block);
    default:
      return broken(block);
  }
}

function broken(block: Readonly<Record<string, unknown>>): TextContent {
  const { type } = block;
  const isKnown = typeof type === "string" && /^(?:text|image|audio|resource|resource_link)$/.test(type);
  const what = type === undefined ? "content without a type" : `content of the ${isKnown ? "" : "unknown "}type`;
  const name = type === undefined ? "" : ` ${outlineOf(type)}`;
  return { type: "text", text: `[${isKnown ? "broken " : ""}${what}${name}] ${outlineOf(block)}` };
}

function readLink({
  name,
  title,
  description,
  size,
  icons,
  ...block
}: Record<string, unknown> & { uri: string }): ResourceLink {
  const { mimeType, ...otherMembers } = block;
  const link: ResourceLink = {
    ...otherMembers,
    type: "resource_link",
    name: typeof name === "string" && name !== "" ? name : block.uri,
  };
  if (typeof title === "string") link.title = title;
  if (typeof description === "string") link.description = description;
  if (typeof mimeType === "string") link.mimeType = mimeType;
  if (typeof size === "number") link.size = size;
  if (Array.isArray(icons)) link.icons = icons.filter((icon) => isObject(icon) && typeof icon.src === "string");
  return link;
}

function isReadable(part: unknown): part is Record<string, unknown> {
  return isObject(part) && (typeof part.text === "string" || typeof part.blob === "string");
}

/** Reads contents of a resource. A part with both a text and a blob has the text. */
function readPart(part: unknown): ResourceContents {
  const uri = isObject(part) && typeof part.uri === "string" ? part.uri : "";
  if (!isReadable(part)) return { uri, text: `[broken contents of a resource] ${outlineOf(part)}` };
  const { text, blob, mimeType, _meta, ...otherMembers } = part;
  const sharedMembers = {
    ...otherMembers,
    uri,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(isObject(_meta) && { _meta }),
  };
  return typeof text === "string" ? { ...sharedMembers, text } : { ...sharedMembers, blob: String(blob) };
}

/** Leaves out annotations and metadata of a wrong type. */
function withValid<T extends ContentBlock>({ annotations, _meta, ...block }: T): ContentBlock {
  return {
    ...block,
    ...(isObject(annotations) && { annotations: readAnnotations(annotations) }),
    ...(isObject(_meta) && { _meta }),
  } as unknown as ContentBlock;
}

function readAnnotations({ audience, priority, lastModified, ...otherMembers }: Record<string, unknown>): Annotations {
  return {
    ...otherMembers,
    ...(Array.isArray(audience) && { audience: audience.filter(isRole) }),
    ...(typeof priority === "number" && { priority }),
    ...(typeof lastModified === "string" && { lastModified }),
  };
}

/** The limits of the JSON of a broken block. It must stay short for a block of any size. */
const MAX_TEXT = 100;
const MAX_MEMBERS = 10;
const MAX_DEPTH = 3;

/** Returns JSON of a value on one line. Long texts, long lists and deep values are shortened. */
function outlineOf(value: unknown): string {
  return wellFormedJson(shortenValue(value, MAX_DEPTH));
}

function shortenValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  // A server in the same process can send values that JSON does not have.
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") return typeof value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) {
    const first = value.slice(0, MAX_MEMBERS).map((item) => shortenValue(item, depth - 1));
    return value.length > MAX_MEMBERS ? [...first, "…"] : first;
  }
  const names = Object.keys(value);
  const members = names.slice(0, MAX_MEMBERS).map((name) => {
    return [name.slice(0, MAX_TEXT), shortenValue((value as Record<string, unknown>)[name], depth - 1)] as const;
  });
  return Object.fromEntries(names.length > MAX_MEMBERS ? [...members, ["…", "…"]] : members);
}
