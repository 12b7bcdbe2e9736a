import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isEmptyList, isObject } from "../rpc/messages.ts";
import type { ContentBlock, Icon, Role } from "./content.ts";

/** An argument of a prompt, as a client sees it. */
export interface PromptArgument {
  /** Key of the argument in `getPrompt`. */
  name: string;
  /** Name for people. Default: `name`. */
  title?: string;
  /** The expected value, for people. */
  description?: string;
  /** Whether a call without the argument is refused. Default: false. */
  required?: boolean;
}

/** A prompt in a list. */
export interface Prompt {
  /** Name for `getPrompt`. Unique on a server. */
  name: string;
  /** Name for people. Default: `name`. */
  title?: string;
  /** Purpose of the prompt, for people. */
  description?: string;
  /** The arguments, all of which are text. Default: none. */
  arguments?: PromptArgument[];
  /** Icons to show for the prompt. */
  icons?: readonly Icon[];
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** A message of a prompt. */
export interface PromptMessage {
  /** The speaker: `user` or `assistant`. */
  role: Role;
  /** One block: text, an image, audio, or a resource. */
  content: ContentBlock;
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  /** Purpose of the prompt. */
  description?: string;
  /** The messages to send to the model, in this order. */
  messages: PromptMessage[];
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

interface GetPromptParams {
  name: string;
  arguments: Record<string, string>;
}

/** Validates the params of `prompts/get`. Every argument must be a string. */
export function readGetPromptParams(params: JsonObject): GetPromptParams {
  const { name, arguments: args } = params;
  if (typeof name !== "string") throw invalidParams("params.name must be a string: the name of the prompt to get");
  return { name, arguments: readStrings(args, "params.arguments") };
}

/** Validates an optional object whose values are strings. A value that is null is absent. */
export function readStrings(value: unknown, where: string): Record<string, string> {
  if (value === undefined || isEmptyList(value)) return {};
  if (!isObject(value)) throw invalidParams(`${where} must be an object`);
  let hasNull = false;
  for (const key of Object.keys(value)) {
    if (value[key] === null) hasNull = true;
    else if (typeof value[key] !== "string") throw invalidParams(`${where}.${key} must be a string`);
  }
  const strings = value as Record<string, string>;
  return hasNull ? Object.fromEntries(Object.entries(strings).filter(([, text]) => text !== null)) : strings;
}
