import type { ContentBlock } from "../content.ts";
import type { SamplingContent } from "../sampling.ts";
import { type Tool, moveStructuredContent } from "../tools.ts";
import { encoder as newerEncoder, revision as newer } from "./2025-03-26.ts";
import { type Encoder, deriveEncoder, mapMessages, omit } from "./encoder.ts";
import type { Revision } from "./revision.ts";

/** The first release: no audio, no annotations of tools, no batches, and no streams that can be resumed. */
export const revision: Revision = {
  ...newer,
  version: "2024-11-05",
  batches: false,
  resumable: false,
  completionsCapability: false,
};

export const encoder: Encoder = /* @__PURE__ */ deriveEncoder(newerEncoder, {
  tool: encodeTool,
  content: (content) => encodeAudio(newerEncoder.content(content)),
  callToolResult: moveStructuredContent,
  progress: (params) => omit(params, "message"),
  createMessage: (params) => mapMessages(newerEncoder.createMessage(params), encodeSampled),
});

/** Tools had no annotations. A title in the annotations replaces a missing description. */
function encodeTool(original: Tool): Tool {
  const tool = newerEncoder.tool(original);
  const title = tool.annotations?.title;
  const encodedTool = omit(tool, "annotations");
  return title === undefined || encodedTool.description !== undefined
    ? encodedTool
    : { ...encodedTool, description: title };
}

/** There was no audio content. Audio becomes an embedded resource with the same bytes and MIME type. */
function encodeAudio(content: ContentBlock): ContentBlock {
  if (content.type !== "audio") return content;
  const { annotations, data, mimeType } = content;
  const resource = { uri: `data:${mimeType},audio`, mimeType, blob: data };
  return annotations ? { type: "resource", resource, annotations } : { type: "resource", resource };
}

/** A sampling message could hold text or an image only. A text that names the MIME type replaces audio. */
function encodeSampled(content: SamplingContent | SamplingContent[]): SamplingContent | SamplingContent[] {
  if (Array.isArray(content) || content.type !== "audio") return content;
  return { type: "text", text: `[audio, ${content.mimeType}, omitted: this revision of the protocol has no audio]` };
}
