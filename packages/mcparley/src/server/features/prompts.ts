import { type Awaitable, after } from "../../rpc/awaitable.ts";
import { invalidParams } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { type GetPromptResult, type PromptMessage, readGetPromptParams } from "../../mcp/prompts.ts";
import type { Call } from "../dispatch/call.ts";
import { isContent } from "./tools.ts";
import { user } from "./content.ts";
import { InputRequired } from "../input/input-required.ts";
import type { PromptEntry } from "./prepare-prompt.ts";
import { requireScopes } from "../dispatch/scopes.ts";

/** Answers `prompts/get`. */
export function getPrompt(call: Call): Awaitable<JsonObject | InputRequired> {
  const { name, arguments: args } = readGetPromptParams(call.params);
  const entry = call.core.offering.prompts.entry(name);
  if (!entry) throw invalidParams(`Unknown prompt: ${name.slice(0, 200)}`, { name: name.slice(0, 200) });
  requireScopes(entry.definition.scopes, call.principal);
  checkArguments(entry, args);
  const returned = call.core.run(call, (context) => entry.definition.get(args as never, context));
  return after(returned, (got) =>
    got instanceof InputRequired ? got : (toResult(entry, got) as unknown as JsonObject),
  );
}

function checkArguments(entry: PromptEntry, args: Record<string, string>): void {
  const missing = entry.required.filter((argument) => !Object.hasOwn(args, argument));
  if (missing.length > 0) {
    throw invalidParams(`The prompt ${entry.name} needs the argument ${missing.join(", ")}.`, { missing });
  }
}

function toResult(entry: PromptEntry, returned: unknown): GetPromptResult {
  if (isGetPromptResult(returned)) return returned;
  const parts = Array.isArray(returned) ? returned : [returned];
  const result: GetPromptResult = { messages: parts.map((part) => toMessage(entry, part)) };
  if (entry.definition.description !== undefined) result.description = entry.definition.description;
  return result;
}

function toMessage(entry: PromptEntry, part: unknown): PromptMessage {
  if (typeof part === "string" || isContent(part)) return user(part);
  if (typeof part === "object" && part !== null && "role" in part && "content" in part) return part as PromptMessage;
  throw new TypeError(`The prompt ${entry.name} returned what is neither text, content nor a message.`);
}

function isGetPromptResult(value: unknown): value is GetPromptResult {
  return typeof value === "object" && value !== null && Array.isArray((value as GetPromptResult).messages);
}
