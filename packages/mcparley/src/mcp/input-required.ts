import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import { Method } from "./methods.ts";

/** An input request in a result: elicitation, sampling or roots. */
export interface InputRequest {
  /** The method: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  method: string;
  /** The params of the method. */
  params?: JsonObject;
}

/** The result of a call that needs input first (2026-07-28, basic/patterns/mrtr). */
export interface InputRequiredResult {
  resultType: "input_required";
  /** The requests to answer, by key. The next call sends the answers under the same keys. */
  inputRequests?: Record<string, InputRequest>;
  /** Opaque to the client, which sends it back unchanged. */
  requestState?: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The methods that can return input requests (2026-07-28, basic/patterns/mrtr, Supported Requests). */
export const mayRequireInput: ReadonlySet<string> = /* @__PURE__ */ (() =>
  new Set<string>([Method.callTool, Method.getPrompt, Method.readResource]))();

/** The `resultType` of a result with input requests. */
export const inputRequiredType = "input_required";
/** The `resultType` of all other results. */
export const completeType = "complete";

/**
 * Returns the input responses of a retried request, by the key of their input request. With `keys`, responses with other keys
 * are ignored. Throws -32602 if they are not an object, or one of them is not.
 */
export function readInputResponses(
  { inputResponses = {} }: JsonObject,
  keys?: readonly string[],
): Record<string, JsonObject> {
  if (!isObject(inputResponses)) throw invalidParams("params.inputResponses must be an object");
  const responses: [string, JsonObject][] = [];
  for (const [key, response] of Object.entries(inputResponses)) {
    if (keys && !keys.includes(key)) continue;
    if (!isObject(response)) throw invalidParams(`params.inputResponses.${key.slice(0, 80)} must be an object`);
    responses.push([key, response]);
  }
  return Object.fromEntries(responses);
}
