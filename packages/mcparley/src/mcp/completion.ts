import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import { readStrings } from "./prompts.ts";

/** The prompt or resource template whose argument is completed. */
export type CompletionReference =
  | {
      type: "ref/prompt";
      /** Name of the prompt. */
      name: string;
    }
  | {
      type: "ref/resource";
      /** URI template of the resource template. */
      uri: string;
    };

/** The params of `completion/complete`. */
export interface CompleteParams {
  /** The prompt or the resource template. */
  ref: CompletionReference;
  /** The argument to complete, and the start of its value. */
  argument: { name: string; value: string };
  /** The arguments that already have a value. */
  context: Record<string, string>;
}

/** The result of `completion/complete`. */
export interface CompleteResult {
  /** The suggestions. */
  completion: {
    /** The suggested values, at most 100, the best first. */
    values: string[];
    /** The number of all matches, including those that were not sent. */
    total?: number;
    /** Whether there are more matches than those that were sent. */
    hasMore?: boolean;
  };
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The maximum number of values in a result (server/utilities/completion, Completion Results). */
export const maxCompletions = 100;

/** Validates the params of `completion/complete`. Throws -32602 if a value has more than `maxLength` characters. */
export function readCompleteParams(params: JsonObject, maxLength: number): CompleteParams {
  const { argument, context } = params;
  if (!isObject(argument) || typeof argument.name !== "string" || typeof argument.value !== "string") {
    throw invalidParams('params.argument must be an object with a string "name" and a string "value"');
  }
  if (context !== undefined && !isObject(context)) throw invalidParams("params.context must be an object");
  const otherArguments = readStrings(context?.arguments, "params.context.arguments");
  checkLength(argument.value, "params.argument.value", maxLength);
  for (const name in otherArguments)
    checkLength(otherArguments[name]!, `params.context.arguments.${name.slice(0, 200)}`, maxLength);
  return {
    ref: readReference(params.ref),
    argument: { name: argument.name, value: argument.value },
    context: otherArguments,
  };
}

function checkLength(value: string, where: string, maxLength: number): void {
  if (value.length > maxLength) throw invalidParams(`${where} must have at most ${maxLength} characters`);
}

function readReference(ref: unknown): CompletionReference {
  if (isObject(ref)) {
    if (ref.type === "ref/prompt" && typeof ref.name === "string") return { type: ref.type, name: ref.name };
    if (ref.type === "ref/resource" && typeof ref.uri === "string") return { type: ref.type, uri: ref.uri };
  }
  throw invalidParams('params.ref must be { type: "ref/prompt", name } or { type: "ref/resource", uri }');
}
