import { isBase64 } from "../../rpc/base64.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { shorten } from "../../schema/schema.ts";
import { isRole } from "../content.ts";
import { checkAnnotations, checkMetaKeys } from "./check-metadata.ts";
import { isUri } from "../resources.ts";

/**
 * Checks the result of a tool, prompt or resource before it is sent, and returns it. Throws a TypeError with the path of the
 * first invalid member.
 */
export function checkResult(result: JsonObject): JsonObject {
  const { content, messages, contents, _meta } = result;
  checkMeta(_meta);
  if (content !== undefined) checkEach(content, "content", checkBlock);
  if (messages !== undefined) checkEach(messages, "messages", checkMessage);
  if (contents !== undefined) checkEach(contents, "contents", checkContents);
  return result;
}

/** Checks the `_meta` of a result or content. */
export function checkMeta(meta: unknown, where = "_meta"): void {
  if (meta === undefined) return;
  if (!isObject(meta)) throw invalid(where, "an object");
  checkMetaKeys(meta, where);
}

/** Checks a list of objects with `check`, which receives each item and its path. */
export function checkEach(list: unknown, where: string, check: (item: JsonObject, where: string) => void): void {
  if (!Array.isArray(list)) throw invalid(where, "a list");
  for (const [index, item] of list.entries()) {
    const path = `${where}[${index}]`;
    if (!isObject(item)) throw invalid(path, "an object");
    check(item, path);
  }
}

/** Checks a message of a prompt. */
function checkMessage({ role, content }: JsonObject, where: string): void {
  checkRole(role, where);
  if (!isObject(content)) throw invalid(`${where}.content`, "one content block");
  checkBlock(content, `${where}.content`);
}

/** Checks the role of a message. `where` is the path of the message. */
export function checkRole(role: unknown, where: string): void {
  if (!isRole(role)) throw invalid(`${where}.role`, '"user" or "assistant"', role);
}

/** Checks one content block. */
export function checkBlock(block: JsonObject, where: string): void {
  const { type, text, data, mimeType, uri, name, resource, annotations, _meta } = block;
  if (annotations !== undefined) checkAnnotations(annotations, `${where}.annotations`);
  if (_meta !== undefined) checkMeta(_meta, `${where}._meta`);
  switch (type) {
    case "text":
      return checkString(text, where, "text");
    case "image":
    case "audio":
      checkString(mimeType, where, "mimeType");
      return checkBase64(data, `${where}.data`);
    case "resource_link":
      checkString(name, where, "name");
      return checkUri(uri, where);
    case "resource":
      if (!isObject(resource)) throw invalid(`${where}.resource`, "an object");
      return checkContents(resource, `${where}.resource`);
    default:
      throw invalid(`${where}.type`, "text, image, audio, resource_link or resource", type);
  }
}

/** Checks the contents of a resource. */
function checkContents({ uri, mimeType, text, blob, _meta }: JsonObject, where: string): void {
  checkUri(uri, where);
  if (mimeType !== undefined) checkString(mimeType, where, "mimeType");
  if (_meta !== undefined) checkMeta(_meta, `${where}._meta`);
  if (typeof text === "string" && blob === undefined) return;
  if (typeof blob !== "string") throw new TypeError(`${where} must have a string "text" or "blob"`);
  checkBase64(blob, `${where}.blob`);
}

// Every result with messages or contents is checked. The path of a member is only concatenated for an error.

function checkUri(uri: unknown, where: string): void {
  if (!isUri(uri)) throw invalid(`${where}.uri`, "an absolute URI", uri);
}

function checkString(value: unknown, where: string, key: string): void {
  if (typeof value !== "string") throw invalid(`${where}.${key}`, "a string", value);
}

function checkBase64(data: unknown, where: string): void {
  if (typeof data === "string" && isBase64(data)) return;
  throw new TypeError(`${where} must be base64. Pass bytes to image(), audio() or embed(), which encode them`);
}

/** Returns the error for an invalid member. */
export function invalid(where: string, requirement: string, value?: unknown): TypeError {
  const excerpt = value === undefined || typeof value === "function" ? "" : `; got ${shorten(JSON.stringify(value))}`;
  return new TypeError(`${where} must be ${requirement}${excerpt}`);
}
