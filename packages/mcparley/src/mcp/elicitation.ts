import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";

/** The schema of a form: a flat object whose properties are strings, numbers, booleans or choices. */
export interface RequestedSchema {
  type: "object";
  properties: Record<string, JsonObject>;
  required?: string[];
}

/** Params of an elicitation that shows a form. */
export interface ElicitFormParams {
  mode?: "form";
  message: string;
  requestedSchema: RequestedSchema;
  _meta?: JsonObject;
}

/** Params of an elicitation that sends the user to a URL. */
export interface ElicitUrlParams {
  mode: "url";
  message: string;
  url: string;
  /** 2025-11-25 only: identifies the interaction in `notifications/elicitation/complete`. */
  elicitationId?: string;
  _meta?: JsonObject;
}

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** The answer of the user to an elicitation. */
export interface ElicitResult {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean | string[]>;
  _meta?: JsonObject;
}

/** Validates the result of `elicitation/create`. */
export function readElicitResult(result: unknown): ElicitResult {
  if (isObject(result)) {
    const { action, content, _meta } = result;
    const meta = isObject(_meta) ? { _meta } : {};
    const known = action === "accept" || action === "decline" || action === "cancel";
    if (known && (content === undefined || content === null || isObject(content))) {
      return content
        ? { action, content: content as NonNullable<ElicitResult["content"]>, ...meta }
        : { action, ...meta };
    }
  }
  throw new LocalError("invalid_message", 'The client answered elicitation/create without a known "action".');
}
