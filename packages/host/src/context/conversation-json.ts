import type { Message } from "../conversation/messages.ts";
import type { ConversationJson, StoredAttachment } from "./conversation-context.ts";

const contents: ReadonlyMap<unknown, { readonly isTextAllowed: boolean; readonly types: ReadonlySet<unknown> }> =
  new Map([
    ["system", { isTextAllowed: true, types: new Set<unknown>() }],
    ["user", { isTextAllowed: true, types: new Set<unknown>(["text", "file"]) }],
    ["assistant", { isTextAllowed: false, types: new Set<unknown>(["text", "file", "reasoning", "tool-call"]) }],
    ["tool", { isTextAllowed: false, types: new Set<unknown>(["tool-result"]) }],
  ]);

/** Reads a stored conversation. Throws a `TypeError` that names the invalid member. */
export function readConversationJson(json: unknown): ConversationJson {
  const { version, messages, attachments } = object(json, "The stored conversation");
  if (version !== 1)
    throw new TypeError(`The stored conversation has version ${String(version)}; this library reads version 1.`);
  return {
    version: 1,
    messages: list(messages, "messages").map((message, index) => readMessage(message, `messages[${index}]`)),
    attachments: list(attachments, "attachments").map((stored, index) =>
      readAttachment(stored, `attachments[${index}]`),
    ),
  };
}

function readMessage(value: unknown, path: string): Message {
  const { role, content } = object(value, path);
  const allowed = contents.get(role);
  if (!allowed) throw new TypeError(`${path}.role must be system, user, assistant or tool; got ${String(role)}.`);
  const isText = typeof content === "string";
  if (isText && !allowed.isTextAllowed) throw new TypeError(`${path}.content must be an array of parts.`);
  for (const [index, part] of isText ? [] : list(content, `${path}.content`).entries()) {
    const { type } = object(part, `${path}.content[${index}]`);
    if (!allowed.types.has(type)) {
      throw new TypeError(
        `${path}.content[${index}].type ${String(type)} is not allowed for the role ${String(role)}.`,
      );
    }
    checkPart(object(part, path), `${path}.content[${index}]`);
  }
  // The members that a run reads were checked.
  return value as Message;
}

function checkPart(part: Readonly<Record<string, unknown>>, path: string): void {
  const texts = { text: ["text"], reasoning: ["text"], file: ["mediaType", "data"] }[String(part.type)] ?? [
    "callId",
    "name",
  ];
  for (const name of texts) {
    if (typeof part[name] !== "string") throw new TypeError(`${path}.${name} must be a string.`);
  }
  if (part.type === "tool-call") object(part.arguments, `${path}.arguments`);
  if (part.type === "tool-result") {
    for (const [index, inner] of list(part.content, `${path}.content`).entries()) {
      checkPart(object(inner, path), `${path}.content[${index}]`);
    }
  }
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
