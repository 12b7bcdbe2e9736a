import { type JsonObject, isObject } from "../rpc/messages.ts";

/** A notification that MCP does not define. Its meaning is an agreement between the server and the client. */
export interface CustomNotification {
  /** Its name, such as `com.example/build-finished`. */
  readonly method: string;
  /** Not validated. An empty object if the sender omitted it. */
  readonly params: JsonObject;
}

/** The names that MCP uses or may use: those that begin with one of its features, and those of JSON-RPC. */
const reservedName =
  /^(rpc\.|(notifications\/)?(initialized?|ping|cancelled|progress|message|server|tools|prompts|resources|roots|subscriptions|elicitation|sampling|completion|logging|tasks)(\/|$))/;

/** Maximum length of the name of a custom notification, in characters. */
const maxLength = 256;

/** Returns whether a notification may be a custom one: MCP does not define its name. */
export function isCustom(method: string): boolean {
  return method.length <= maxLength && !reservedName.test(method);
}

/** Throws a TypeError if a notification has a name that MCP reserves, or params that are not an object. */
export function checkCustom(method: unknown, params: unknown): asserts method is string {
  if (typeof method !== "string" || !method || !isCustom(method)) {
    const rule = `A custom notification needs a method of 1 to ${maxLength} characters that MCP does not reserve`;
    throw new TypeError(`${rule}, such as "com.example/done"; got ${JSON.stringify(method)}.`);
  }
  if (params !== undefined && !isObject(params)) throw new TypeError(`The params of ${method} must be an object.`);
}
