import { type JsonObject, isObject } from "../rpc/messages.ts";
import { Method } from "./methods.ts";

/** An input request in a result: elicitation, sampling or roots. */
export interface InputRequest {
  method: string;
  params?: JsonObject;
}

/** The result of a call that needs input first (2026-07-28, basic/patterns/mrtr). */
export interface InputRequiredResult {
  resultType: "input_required";
  inputRequests?: Record<string, InputRequest>;
  /** Opaque to the client, which sends it back unchanged. */
  requestState?: string;
  _meta?: JsonObject;
}

/** The methods that can return input requests (2026-07-28, basic/patterns/mrtr, Supported Requests). */
export const askable: ReadonlySet<string> = new Set([Method.callTool, Method.getPrompt, Method.readResource]);

export const inputRequiredType = "input_required";
export const completeType = "complete";

/**
 * Returns the input responses of a retried request, by the key of their input request. A response that is not an object is
 * ignored, so that the input is requested again.
 */
export function readInputResponses({ inputResponses }: JsonObject): JsonObject {
  if (!isObject(inputResponses)) return {};
  return Object.fromEntries(Object.entries(inputResponses).filter(([, answer]) => isObject(answer)));
}
