import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isEmptyList, isObject } from "../rpc/messages.ts";

/** The schema of a form: a flat object whose properties are strings, numbers, booleans or choices. */
export interface RequestedSchema {
  type: "object";
  /** A schema for each field: text, a number, a boolean, or a choice. */
  properties: Record<string, JsonObject>;
  /** Names of the fields that the user must fill in. Default: none. */
  required?: string[];
}

/** Params of an elicitation that shows a form. */
export interface ElicitFormParams {
  /** Default: `form`. */
  mode?: "form";
  /** The question to show to the user. */
  message: string;
  /** The fields of the form. */
  requestedSchema: RequestedSchema;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Params of an elicitation that sends the user to a URL. */
export interface ElicitUrlParams {
  mode: "url";
  /** The reason to visit the page, for the user. */
  message: string;
  /** The URL to visit. Show it to the user before it is opened. */
  url: string;
  /** 2025-11-25 only: identifies the interaction in `notifications/elicitation/complete`. */
  elicitationId?: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** The answer of the user to an elicitation. */
export interface ElicitResult {
  /** `accept`: the user answered. `decline`: the user refused. `cancel`: the user gave no answer. */
  action: "accept" | "decline" | "cancel";
  /** The values of the form, if the user accepted one. Undefined members are omitted. */
  content?: Record<string, string | number | boolean | string[] | undefined>;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Validates the result of `elicitation/create`. */
export function readElicitResult(result: unknown): ElicitResult {
  if (isObject(result)) {
    const { action, content, _meta } = result;
    const meta = isObject(_meta) ? { _meta } : {};
    const isValid = action === "accept" || action === "decline" || action === "cancel";
    if (isValid && (content === undefined || content === null || isObject(content) || isEmptyList(content))) {
      // No field of a form can be null.
      const members = Object.entries(content ?? {}).filter(([, value]) => value !== null);
      return content ? { action, content: Object.fromEntries(members), ...meta } : { action, ...meta };
    }
  }
  throw new LocalError("invalid_message", 'The response to elicitation/create must contain a valid "action".');
}
