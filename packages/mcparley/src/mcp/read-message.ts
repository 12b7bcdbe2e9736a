import { type Classified, type JsonObject, classify, isObject } from "../rpc/messages.ts";
import { isCustom } from "./custom-notifications.ts";

/** The values that belong to authors. Nothing in them is changed. An array of `arguments` is that of a prompt in a list. */
const authorValue = /^(input|(in|out)putSchema|structuredContent|metadata|data|arguments)$/;
/** Objects whose members belong to authors, except those with the prefix of MCP. */
const settings = /^(_meta|experimental|extensions)$/;
/** The members in which null is a value: any JSON, and the lifetime of a task that has no end. */
const nullable = /^(data|(mcparley\/)?structuredContent|ttl(Ms)?)$/;
/** The members that are objects in all messages. An empty array in their place, which PHP writes, is an empty object. */
const objectName = /^(_meta|annotations|properties|input)$|apabilities$/;

/** Messages of MCP have fewer levels outside of the values of authors. */
const MAX_DEPTH = 16;

/**
 * Returns the kind of message that a parsed value is, like `classify`. In a message of MCP a member that is null is absent, and an
 * empty array in place of an object is empty. The values of authors, such as the arguments of a tool, are not changed.
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
  const read = params && resultReader(method)?.(params);
  if (read && read !== params) classified.message = { ...classified.message, params: read };
  return classified;
}

/** Returns the function that reads the results of a method. Undefined if MCP does not define the method. */
export function resultReader(method: string): ((result: JsonObject) => JsonObject) | undefined {
  return isCustom(method) ? undefined : (result) => readMembers(result, "object", MAX_DEPTH);
}

/** The place of members: an object or array of MCP, an object with members of authors, or capabilities. */
type Place = "object" | "settings" | "capabilities";

/** Returns an object or array without members that are null. It is copied only if it has any. */
function readMembers<T extends object>(container: T, place: Place, depth: number): T {
  const isArray = Array.isArray(container);
  let present = container;
  for (const name in container) {
    const value = container[name];
    if (typeof value !== "object") continue;
    const member = value === null ? undefined : readMember(name, value, place, depth);
    if (member === value || (value === null && (isArray || nullable.test(name)))) continue;
    if (present === container) present = isArray ? ([...container] as T) : { ...container };
    if (member === undefined) delete present[name];
    else present[name] = member;
  }
  return present;
}

function readMember<T extends object>(name: string, value: T, place: Place, depth: number): T {
  const isArray = Array.isArray(value);
  const isOfAuthor = place === "settings" && !name.startsWith("io.modelcontextprotocol/");
  if (isArray && value.length === 0)
    return place === "capabilities" || (!isOfAuthor && objectName.test(name)) ? ({} as T) : value;
  if (depth === 0 || isOfAuthor || (place === "object" && authorValue.test(name) && !(isArray && name === "arguments")))
    return value;
  const isCapability = place === "capabilities" || /apabilities$/.test(name);
  const inner = settings.test(name) ? "settings" : isCapability ? "capabilities" : "object";
  return readMembers(value, inner, depth - 1);
}
