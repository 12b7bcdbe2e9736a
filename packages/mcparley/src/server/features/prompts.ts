import { type Awaitable, after } from "../../rpc/awaitable.ts";
import { invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { requireWellFormed } from "../../rpc/well-formed.ts";
import { type Prompt as ListedPrompt, type PromptMessage, readGetPromptParams } from "../../mcp/prompts.ts";
import { type Call, handlerContext } from "../core/call.ts";
import type { PromptEntry } from "../core/server-core.ts";
import { requireScopes } from "../core/scopes.ts";
import type { Prompt } from "../core/definition-types.ts";
import { describe, explainErrors } from "../checks/check-definition.ts";
import { InputRequired } from "../core/input-required.ts";
import type { Entry } from "../core/registry.ts";
import { isContent, user } from "./content.ts";
import { prepareArguments } from "./prompt-arguments.ts";

/** Builds the entry of a prompt in `prompts/list`. Throws `invalid_definition`, naming the prompt. */
export function preparePrompt(entry: Entry<Prompt>): PromptEntry {
  const { name, definition } = entry;
  return explainErrors(`prompt "${name}"`, () => {
    const listEntry: ListedPrompt = describe("prompt", name, definition);
    const args = prepareArguments(definition.arguments);
    if (typeof definition.get !== "function")
      throw new TypeError("it has no `get` function; write prompt({ arguments, get })");
    for (const argument of args.listed) requireWellFormed(argument.name, "its argument");
    if (args.listed.length > 0) listEntry.arguments = [...args.listed];
    return { ...entry, listed: listEntry, arguments: args };
  });
}

/** Answers `prompts/get`. Throws -32602 if the prompt is unknown or an argument is missing or invalid, and 403 if a scope is missing. */
export function getPrompt(call: Call): Awaitable<JsonObject | InputRequired> {
  const { name, arguments: texts } = readGetPromptParams(call.params);
  const prompt = call.core.offering.prompts.entry(name);
  if (!prompt) throw invalidParams(`Unknown prompt: ${name.slice(0, 200)}`, { name: name.slice(0, 200) });
  requireScopes(prompt.definition.scopes, call.principal);
  // Without a promise if possible, as in `callTool`.
  return after(prompt.arguments.read(name, texts, call.core.limits), (args) => {
    const pendingValue = after(handlerContext(call), (context) => prompt.definition.get(args as never, context));
    return after(pendingValue, (value) => toResult(prompt, value));
  });
}

function toResult({ name, definition }: PromptEntry, value: unknown): JsonObject | InputRequired {
  if (value instanceof InputRequired) return value;
  if (isObject(value) && Array.isArray(value.messages)) return value;
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  const result: JsonObject = { messages: parts.map((part) => toMessage(name, part)) };
  if (definition.description !== undefined) result.description = definition.description;
  return result;
}

function toMessage(name: string, part: unknown): PromptMessage {
  if (typeof part === "string" || isContent(part)) return user(part);
  if (typeof part === "object" && part !== null && "role" in part && "content" in part) return part as PromptMessage;
  throw new TypeError(`The prompt ${name} returned a value of type ${typeof part}. Return text, content or messages.`);
}
