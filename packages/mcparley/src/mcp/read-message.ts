import { type Classified, type JsonObject, classify, isObject } from "../rpc/messages.ts";
import { isCustom } from "./custom-notifications.ts";

/** The values that belong to authors. Nothing in them is changed. An array of `arguments` is that of a prompt in a list. */
const authorValue = /^(input|(in|out)putSchema|structuredContent|metadata|data|arguments)$/;
/** Objects whose members belong to authors, except those with the prefix of MCP. */
const settings = /^(experimental|extensions)$/;
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
  const read = params && resultReader(method)?.(params);
  if (read && read !== params) classified.message = { ...classified.message, params: read };
  return classified;
}

/** Returns the function that reads the results of a method. Undefined if MCP does not define the method. */
export function resultReader(method: string): ((result: JsonObject) => JsonObject) | undefined {
  return isCustom(method) ? undefined : (result) => readMembers(result, "object", MAX_DEPTH);
}

/**
 * The place of members: an object or array of MCP, `_meta`, an object with members of authors, capabilities, or input requests and
 * their responses, whose keys belong to authors.
 */
type Place = "object" | "metadata" | "settings" | "capabilities" | "inputs";

/** Returns an object or array without members that are null. It is copied only if it has any. */
function readMembers<T extends object>(container: T, place: Place, depth: number): T {
  const isArray = Array.isArray(container);
  let present = container;
  for (const name in container) {
    const value = container[name];
    if (typeof value !== "object") continue;
    if (value === null && (isArray || nullable.test(name) || (place === "metadata" && !ownMetadata.test(name))))
      continue;
    // The names and lists in the answer to a form belong to the author.
    if (value !== null && name === "content" && "action" in container) continue;
    const read = value === null ? undefined : readMember(value, placeOf(name, value, place), depth);
    if (read === value) continue;
    if (present === container) present = isArray ? ([...container] as T) : { ...container };
    if (read === undefined) delete present[name];
    else present[name] = read as typeof value;
  }
  return present;
}

function readMember(value: object, place: Place | "empty" | undefined, depth: number): object {
  if (place === "empty") return {};
  return place && depth > 0 ? readMembers(value, place, depth - 1) : value;
}

/** Returns the place of the members of a value, or whether it is an empty array that is an object. Undefined if it is not changed. */
function placeOf(name: string, value: object, place: Place): Place | "empty" | undefined {
  if (place === "inputs") return "object";
  const isArray = Array.isArray(value);
  const isOfAuthor = (place === "settings" || place === "metadata") && !name.startsWith("io.modelcontextprotocol/");
  if (isArray && value.length === 0)
    return place === "capabilities" || (!isOfAuthor && objectName.test(name)) ? "empty" : undefined;
  if (isOfAuthor || (place === "object" && authorValue.test(name) && !(isArray && name === "arguments")))
    return undefined;
  if (name === "_meta") return "metadata";
  if (settings.test(name)) return "settings";
  if (/^input(Requests|Responses)$/.test(name)) return "inputs";
  return place === "capabilities" || name.endsWith("apabilities") ? "capabilities" : "object";
}
