import { isObject } from "../../../rpc/messages.ts";
import type { ElicitParams } from "../../elicitation.ts";
import type { ReadResourceResult } from "../../resources.ts";
import type { CallToolResult, Tool } from "../../tools.ts";
import { lowering as newer } from "../2026-07-28/lowering.ts";
import { type LoweredElicitation, type Lowering, lowerFurther, without } from "../lowering.ts";

export const lowering: Lowering = /* @__PURE__ */ lowerFurther(newer, {
  tool: requireObjectOutput,
  callToolResult: requireObjectContent,
  readResourceResult: uncached,
  elicitation: identifyUrl,
});

/** Until this revision a tool's output was an object; what is not one is still in the result's text. */
function requireObjectOutput(tool: Tool): Tool {
  return tool.outputSchema === undefined || tool.outputSchema.type === "object" ? tool : without(tool, "outputSchema");
}

function uncached(result: ReadResourceResult): ReadResourceResult {
  const { ttlMs: _, cacheScope: __, ...others } = result;
  return others;
}

function requireObjectContent(result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  return structuredContent === undefined || isObject(structuredContent) ? result : without(result, "structuredContent");
}

function identifyUrl(params: ElicitParams): LoweredElicitation {
  const lowered = params.mode === "url" ? { elicitationId: crypto.randomUUID(), ...params } : params;
  return { params: lowered, lift: (result) => result };
}
