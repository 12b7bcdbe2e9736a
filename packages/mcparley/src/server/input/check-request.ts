import type { ClientCapabilities } from "../../mcp/capabilities.ts";
import { isPriority } from "../../mcp/checks/check-metadata.ts";
import { checkBlock, checkEach, checkMeta, checkRole, invalid } from "../../mcp/checks/check-content.ts";
import { toRequestedSchema } from "../../mcp/form-schema.ts";
import { Method } from "../../mcp/methods.ts";
import { findUnsafe } from "../../mcp/checks/safe-url.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { compileSchema } from "../../schema/compile-schema.ts";
import { requireCapability } from "./input-channel.ts";
import { findWrongId } from "./url-required.ts";

/**
 * Checks an input request before it is sent. Throws a TypeError or SchemaError if its params are invalid, and -32021 if the
 * client has not declared the required capability.
 */
export function checkRequest(
  declared: ClientCapabilities,
  { method, params, requires }: { method: string; params: JsonObject; requires: ClientCapabilities },
): void {
  checkMeta(params._meta);
  if (method === Method.elicit) checkElicitation(params);
  if (method === Method.createMessage) checkSampling(params);
  requireCapability(declared, requires);
}

function checkElicitation({ mode = "form", message, url, requestedSchema, elicitationId }: JsonObject): void {
  if (typeof message !== "string") throw invalid("message", "a string", message);
  if (mode === "url") {
    const unsafe = findUnsafe(url) ?? (elicitationId === undefined ? undefined : findWrongId(elicitationId));
    if (unsafe) throw new TypeError(`elicit: ${unsafe}`);
  } else if (mode !== "form") throw invalid("mode", '"form" or "url"', mode);
  else toRequestedSchema(requestedSchema as JsonObject);
}

const priorities = ["costPriority", "speedPriority", "intelligencePriority"];

function checkSampling(params: JsonObject): void {
  const { messages, maxTokens, temperature, modelPreferences = {}, tools = [] } = params;
  checkEach(messages, "messages", checkMessage);
  if (!Number.isSafeInteger(maxTokens)) throw invalid("maxTokens", "an integer", maxTokens);
  if (temperature !== undefined && !Number.isFinite(temperature)) throw invalid("temperature", "a number", temperature);
  if (!isObject(modelPreferences)) throw invalid("modelPreferences", "an object");
  for (const name of priorities) {
    const value = modelPreferences[name];
    if (value !== undefined && !isPriority(value)) throw invalid(`modelPreferences.${name}`, "from 0 to 1", value);
  }
  checkEach(tools, "tools", ({ name, inputSchema }, where) => {
    if (typeof name !== "string") throw invalid(`${where}.name`, "a string", name);
    try {
      compileSchema(inputSchema as JsonObject, "input");
    } catch (cause) {
      throw new TypeError(`${where}.inputSchema: ${(cause as Error).message}`, { cause });
    }
  });
}

/** Checks a message of a conversation: its blocks are content, tool uses and results of tools. */
function checkMessage({ role, content, _meta }: JsonObject, where: string): void {
  checkRole(role, where);
  checkMeta(_meta, `${where}._meta`);
  if (Array.isArray(content)) return checkEach(content, `${where}.content`, checkSampled);
  if (!isObject(content)) throw invalid(`${where}.content`, "a content block or a list of them");
  checkSampled(content, `${where}.content`);
}

function checkSampled(block: JsonObject, where: string): void {
  if (block.type === "tool_use") return;
  if (block.type === "tool_result") checkEach(block.content, `${where}.content`, checkBlock);
  else checkBlock(block, where);
}
