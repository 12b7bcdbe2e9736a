import { type Classified, type JsonObject, classify, isObject } from "../rpc/messages.ts";
import { isCustom } from "./custom-notifications.ts";

/**
 * The place of members: an object of MCP, `_meta`, an object with members of authors, capabilities, or input requests and their
 * responses, whose keys belong to authors. Nothing in a value of an author is changed.
 */
type Place = keyof typeof namesByPlace | "object";

/** The names of the values whose members have a place. Other values are objects of MCP. */
const namesByPlace = {
  metadata: "_meta",
  settings: "experimental extensions",
  capabilities: "capabilities io.modelcontextprotocol/clientCapabilities",
  inputs: "inputRequests inputResponses",
  author: "input inputSchema outputSchema structuredContent metadata data arguments",
} as const;

const places: ReadonlyMap<string, Place> = new Map(
  Object.entries(namesByPlace).flatMap(([place, names]) => names.split(" ").map((name) => [name, place as Place])),
);
/** The members of `_meta` that belong to MCP. In each other one, null is a value of its author. */
const ownMetadata = /^(progressToken|traceparent|tracestate|baggage|ui(\/resourceUri)?)$|^io\.modelcontextprotocol\//;
/** The members in which null is a value: any JSON, the constant of a schema, and the lifetime of a task that has no end. */
const nullable = /^(data|const|(mcparley\/)?structuredContent|ttl(Ms)?)$/;
/** The members that are objects in all messages. An empty array in their place, which PHP writes, is an empty object. */
const objectName = /^(_meta|annotations|properties|input)$|apabilities$/;

/** Messages of MCP have fewer levels outside of the values of authors. */
const MAX_DEPTH = 16;

/**
 * Returns the kind of message that a parsed value is, like `classify`. In a message of MCP a member that is null is absent, and an
 * empty array in place of an object is empty. The values of authors, such as the arguments of a tool and their members of `_meta`, are not
 * changed.
 */
export function readMessage(value: unknown, maxIdLength?: number): Classified {
  const classified = classify(value, maxIdLength);
  if (classified.kind === "invalid") {
    if (!isObject(value) || value.id !== null || !String(value.method).startsWith("notifications/")) return classified;
    const { id: _, ...notification } = value;
    return readMessage(notification, maxIdLength);
  }
  if (classified.kind === "response") return classified;
  const { params, method } = classified.message;
  const read = params && readResult(method, params);
  if (read && read !== params) classified.message = { ...classified.message, params: read };
  return classified;
}

/** Reads the result of a method in the same way. That of a method that MCP does not define is not changed. */
export function readResult(method: string, result: JsonObject): JsonObject {
  return isCustom(method) ? result : readMembers(result, "object", MAX_DEPTH);
}

/** Returns an object or array without members that are null. It is copied only if it has any. */
function readMembers<T extends object>(container: T, place: Place, depth: number): T {
  if (Array.isArray(container)) return readItems(container, place, depth) as T;
  let present = container;
  for (const name in container) {
    const value = container[name];
    if (typeof value !== "object") continue;
    if (value === null && (nullable.test(name) || (place === "metadata" && !ownMetadata.test(name)))) continue;
    // The names and lists in the answer to a form belong to the author.
    if (value !== null && name === "content" && "action" in container) continue;
    const read = value === null ? undefined : readMember(value, placeOf(name, value, place), depth);
    if (read === value) continue;
    if (present === container) present = { ...container };
    if (read === undefined) delete present[name];
    else present[name] = read as typeof value;
  }
  return present;
}

/** In an array null is a value. */
function readItems(items: readonly unknown[], place: Place, depth: number): readonly unknown[] {
  let read: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const readItem = typeof item === "object" && item !== null ? readMember(item, place, depth) : item;
    if (readItem !== item) (read ??= [...items])[index] = readItem;
  }
  return read ?? items;
}

function readMember(value: object, place: Place | "empty", depth: number): object {
  if (place === "empty") return {};
  return place === "author" || depth === 0 ? value : readMembers(value, place, depth - 1);
}

/** Returns the place of the members of a value, or whether it is an empty array that is an object. */
function placeOf(name: string, value: object, place: Place): Place | "empty" {
  if (place === "inputs") return "object";
  const isArray = Array.isArray(value);
  const isOfAuthor = (place === "settings" || place === "metadata") && !name.startsWith("io.modelcontextprotocol/");
  if (isArray && value.length === 0)
    return place === "capabilities" || (!isOfAuthor && objectName.test(name)) ? "empty" : "author";
  if (isOfAuthor) return "author";
  const namedPlace = places.get(name);
  // An array of `arguments` is that of a prompt in a list.
  const isNamed = namedPlace !== "author" || (place === "object" && !(isArray && name === "arguments"));
  return (isNamed && namedPlace) || (place === "capabilities" ? place : "object");
}
