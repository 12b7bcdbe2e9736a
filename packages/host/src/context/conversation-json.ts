import type { Message } from "../conversation/messages.ts";
import type { ConversationJson, StoredAttachment } from "./conversation-context.ts";

/** The types of parts that a message of a role can have. */
const partTypes: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ["user", new Set(["text", "file"])],
  ["assistant", new Set(["text", "file", "reasoning", "tool-call"])],
  ["tool", new Set(["tool-result"])],
]);
const resultTypes: ReadonlySet<unknown> = new Set(["text", "file"]);

/** The members of a part that must be texts. */
const textMembers: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["text", ["text"]],
  ["reasoning", ["text"]],
  ["file", ["mediaType", "data"]],
  ["tool-call", ["callId", "name"]],
  ["tool-result", ["callId", "name"]],
]);

/** Reads a stored conversation. Throws a `TypeError` that names the invalid member. */
export function readConversationJson(json: unknown): ConversationJson {
  const { version, messages, attachments } = object(json, "The stored conversation");
  if (version !== 1)
    throw new TypeError(`The stored conversation has version ${String(version)}; this library reads version 1.`);
  return {
    version: 1,
    messages: list(messages, "messages").map((message, index) => readMessage(message, `messages[${index}]`)),
    attachments: list(attachments, "attachments").map((attachment, index) =>
      readAttachment(attachment, `attachments[${index}]`),
    ),
  };
}

function readMessage(value: unknown, path: string): Message {
  const { role, content } = object(value, path);
  const types = partTypes.get(role);
  if (!types && role !== "system") {
    throw new TypeError(`${path}.role must be system, user, assistant or tool; got ${String(role)}.`);
  }
  const isText = typeof content === "string";
  if (role === "system" && !isText) throw new TypeError(`${path}.content must be a string.`);
  if (isText && role !== "system" && role !== "user") {
    throw new TypeError(`${path}.content must be an array of parts.`);
  }
  if (types && !isText) checkParts(content, `${path}.content`, types);
  // The members that a run reads were checked.
  return value as Message;
}

function checkParts(parts: unknown, path: string, types: ReadonlySet<unknown>): void {
  for (const [index, value] of list(parts, path).entries()) {
    const partPath = `${path}[${index}]`;
    const part = object(value, partPath);
    if (!types.has(part.type)) {
      throw new TypeError(`${partPath}.type must be ${[...types].join(", ")}; got ${String(part.type)}.`);
    }
    checkPart(part, partPath);
  }
}

function checkPart(part: Readonly<Record<string, unknown>>, path: string): void {
  for (const name of textMembers.get(part.type) ?? []) checkText(part[name], `${path}.${name}`);
  if (part.filename !== undefined) checkText(part.filename, `${path}.filename`);
  if (part.providerData !== undefined) object(part.providerData, `${path}.providerData`);
  if (part.from !== undefined) {
    const { server, name } = object(part.from, `${path}.from`);
    checkText(server, `${path}.from.server`);
    checkText(name, `${path}.from.name`);
  }
  if (part.type === "tool-call") object(part.arguments, `${path}.arguments`);
  if (part.type === "tool-result") {
    if (typeof part.isError !== "boolean") throw new TypeError(`${path}.isError must be a boolean.`);
    checkParts(part.content, `${path}.content`, resultTypes);
  }
}

function checkText(value: unknown, path: string): void {
  if (typeof value !== "string") throw new TypeError(`${path} must be a string.`);
}

function readAttachment(value: unknown, path: string): StoredAttachment {
  const { server, uri, contentHash } = object(value, path);
  if (typeof server !== "string" || typeof uri !== "string")
    throw new TypeError(`${path} must have a server and a URI.`);
  return { server, uri, contentHash: typeof contentHash === "string" ? contentHash : undefined };
}

function object(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${path} must be an object.`);
  return value as Readonly<Record<string, unknown>>;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${path} must be an array.`);
  return value;
}
