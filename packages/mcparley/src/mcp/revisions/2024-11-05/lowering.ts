import type { ContentBlock } from "../../content.ts";
import type { SamplingContent } from "../../sampling.ts";
import type { Tool } from "../../tools.ts";
import { lowering as newer } from "../2025-03-26/lowering.ts";
import { type Lowering, lowerFurther, without } from "../lowering.ts";

export const lowering: Lowering = /* @__PURE__ */ lowerFurther(newer, {
  tool: lowerTool,
  content: lowerContent,
  callToolResult: (result) => ({ ...result, content: result.content.map(lowerContent) }),
  getPromptResult: (result) => ({
    ...result,
    messages: result.messages.map((message) => ({ ...message, content: lowerContent(message.content) })),
  }),
  progress: (params) => without(params, "message"),
  createMessage: (params) => ({
    ...params,
    messages: params.messages.map((message) => ({ ...message, content: lowerSampled(message.content) })),
  }),
});

/** A title that had a place in the annotations stands in for a description that is missing. */
function lowerTool(tool: Tool): Tool {
  const title = tool.annotations?.title;
  const lowered = without(tool, "annotations");
  return title === undefined || lowered.description !== undefined ? lowered : { ...lowered, description: title };
}

/** Audio had no content type of its own: it is embedded as a resource, bytes and MIME type intact. */
function lowerContent(content: ContentBlock): ContentBlock {
  if (content.type !== "audio") return content;
  const { annotations, data, mimeType } = content;
  const resource = { uri: `data:${mimeType},audio`, mimeType, blob: data };
  return annotations ? { type: "resource", resource, annotations } : { type: "resource", resource };
}

/** A question to the model could hold text and images alone, so audio is named where it was. */
function lowerSampled(content: SamplingContent | SamplingContent[]): SamplingContent | SamplingContent[] {
  if (Array.isArray(content) || content.type !== "audio") return content;
  return { type: "text", text: `[audio, ${content.mimeType}, left out: this revision of the protocol has no audio]` };
}
