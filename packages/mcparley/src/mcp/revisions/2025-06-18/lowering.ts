import { LocalError } from "../../../rpc/errors.ts";
import type { ContentBlock } from "../../content.ts";
import type { ElicitParams } from "../../elicitation.ts";
import type { CreateMessageParams, SamplingMessage } from "../../sampling.ts";
import { lowering as newer } from "../2025-11-25/lowering.ts";
import { lowerForm } from "./lower-form.ts";
import { type LoweredElicitation, type Lowering, lowerFurther, without } from "../lowering.ts";

export const lowering: Lowering = /* @__PURE__ */ lowerFurther(newer, {
  tool: (tool) => without(tool, "icons"),
  prompt: (prompt) => without(prompt, "icons"),
  resource: (resource) => without(resource, "icons"),
  resourceTemplate: (template) => without(template, "icons"),
  content: withoutIcons,
  callToolResult: (result) =>
    result.content.some(hasIcons) ? { ...result, content: result.content.map(withoutIcons) } : result,
  getPromptResult: (result) => {
    if (!result.messages.some(({ content }) => hasIcons(content))) return result;
    const messages = result.messages.map((message) => ({ ...message, content: withoutIcons(message.content) }));
    return { ...result, messages };
  },
  implementation: (implementation) => without(implementation, "icons", "description", "websiteUrl"),
  elicitation: lowerElicitation,
  createMessage: lowerSampling,
});

function hasIcons(content: ContentBlock): boolean {
  return "icons" in content;
}

function withoutIcons(content: ContentBlock): ContentBlock {
  return without(content, "icons");
}

function lowerElicitation(params: ElicitParams): LoweredElicitation {
  if (params.mode === "url") {
    throw new LocalError("not_capable", "A client of this revision cannot be sent to a URL (elicitation.url).");
  }
  const { mode: _, ...form } = params;
  const { requestedSchema, lift } = lowerForm(form.requestedSchema);
  return { params: { ...form, requestedSchema }, lift };
}

/** Until this revision a message held one block, so several blocks become as many messages. */
function lowerSampling(params: CreateMessageParams): CreateMessageParams {
  if (params.tools) {
    throw new LocalError("not_capable", "A client of this revision cannot sample with tools (sampling.tools).");
  }
  return { ...without(params, "toolChoice"), messages: params.messages.flatMap(splitMessage) };
}

function splitMessage(message: SamplingMessage): SamplingMessage[] {
  const { content, role } = message;
  return Array.isArray(content) ? content.map((block) => ({ role, content: block })) : [without(message, "_meta")];
}
