import type { Annotations, ContentBlock, ResourceLink, TextContent } from "../content.ts";
import { Method } from "../methods.ts";
import type { Prompt } from "../prompts.ts";
import type { SamplingContent, SamplingMessage } from "../sampling.ts";
import { type Tool, moveStructuredContent } from "../tools.ts";
import { encoder as newerEncoder, revision as newer } from "./2025-06-18.ts";
import { type Encoder, deriveEncoder, mapMessages, omit } from "./encoder.ts";
import type { Revision } from "./revision.ts";

/** Has batches, and no elicitation, structured results, resource links or titles. */
export const revision: Revision = {
  ...newer,
  version: "2025-03-26",
  serverRequests: new Set([Method.ping, Method.createMessage, Method.listRoots]),
  batches: true,
  versionHeader: false,
  completionContext: false,
};

export const encoder: Encoder = /* @__PURE__ */ deriveEncoder(newerEncoder, {
  tool: encodeTool,
  prompt: encodePrompt,
  resource: encodeResource,
  resourceTemplate: encodeResource,
  content: encodeContent,
  callToolResult: moveStructuredContent,
  readResourceResult: (result) => ({
    ...newerEncoder.readResourceResult(result),
    contents: result.contents.map((content) => omit(content, "_meta")),
  }),
  implementation: (implementation) => omit(newerEncoder.implementation(implementation), "title"),
  createMessage: (params) => mapMessages(newerEncoder.createMessage(params), encodeSampled),
});

/** The title of a tool was part of its annotations. */
function encodeTool(tool: Tool): Tool {
  const { title } = tool;
  const encodedTool = omit(newerEncoder.tool(tool), "title", "outputSchema", "_meta");
  return title === undefined ? encodedTool : { ...encodedTool, annotations: { title, ...encodedTool.annotations } };
}

function encodePrompt(prompt: Prompt): Prompt {
  const encodedPrompt = describeByTitle(omit(newerEncoder.prompt(prompt), "_meta"));
  if (!encodedPrompt.arguments) return encodedPrompt;
  return { ...encodedPrompt, arguments: encodedPrompt.arguments.map(describeByTitle) };
}

function encodeResource<T extends { title?: string; description?: string; annotations?: Annotations }>(resource: T): T {
  return encodeAnnotations(describeByTitle(omit(resource, "icons", "_meta")));
}

/** Prompts and resources had no title. The title replaces a missing description. */
function describeByTitle<T extends { title?: string; description?: string }>(thing: T): T {
  const { title } = thing;
  const encodedThing = omit(thing, "title");
  return title === undefined || encodedThing.description !== undefined
    ? encodedThing
    : { ...encodedThing, description: title };
}

function encodeAnnotations<T extends { annotations?: Annotations }>(thing: T): T {
  if (thing.annotations?.lastModified === undefined) return thing;
  const annotations = omit(thing.annotations, "lastModified");
  return Object.keys(annotations).length > 0 ? { ...thing, annotations } : omit(thing, "annotations");
}

function encodeContent(content: ContentBlock): ContentBlock {
  if (content.type === "resource_link") return linkAsText(content);
  const block = encodeAnnotations(omit(content, "icons", "_meta"));
  return block.type === "resource" ? { ...block, resource: omit(block.resource, "_meta") } : block;
}

/** Content had no `_meta`, and its annotations no time. Sampling has one block of text, image or audio in a message here. */
function encodeSampled(content: SamplingMessage["content"]): SamplingMessage["content"] {
  return encodeContent(content as ContentBlock) as SamplingContent;
}

function linkAsText(link: ResourceLink): TextContent {
  const label = link.title ?? link.name;
  const description = link.description === undefined ? "" : `: ${link.description}`;
  const text: TextContent = { type: "text", text: `[${label}](${link.uri})${description}` };
  return link.annotations ? encodeAnnotations({ ...text, annotations: link.annotations }) : text;
}
