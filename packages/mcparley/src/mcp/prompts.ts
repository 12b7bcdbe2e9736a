import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { ContentBlock, Icon, Role } from "./content.ts";

/** An argument of a prompt, as a client sees it. */
export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

/** A prompt in a list. */
export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: readonly Icon[];
  _meta?: JsonObject;
}

/** A message of a prompt. */
export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  description?: string;
  messages: PromptMessage[];
  _meta?: JsonObject;
}

export interface GetPromptParams {
  name: string;
  arguments: Record<string, string>;
}

/** Validates the params of `prompts/get`. Every argument must be a string. */
export function readGetPromptParams(params: JsonObject): GetPromptParams {
  const { name, arguments: args } = params;
  if (typeof name !== "string") throw invalidParams("params.name must be a string: the name of the prompt to get");
  return { name, arguments: readStrings(args, "params.arguments") };
}

/** Validates an optional object whose values are strings. */
export function readStrings(value: unknown, where: string): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidParams(`${where} must be an object`);
  for (const key of Object.keys(value)) {
    if (typeof value[key] !== "string") throw invalidParams(`${where}.${key} must be a string`);
  }
  return value as Record<string, string>;
}
