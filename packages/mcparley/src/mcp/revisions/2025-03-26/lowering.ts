import type { Annotations, ContentBlock, ResourceLink, TextContent } from "../../content.ts";
import type { Prompt } from "../../prompts.ts";
import type { Tool } from "../../tools.ts";
import { lowering as newer } from "../2025-06-18/lowering.ts";
import { type Lowering, lowerFurther, without } from "../lowering.ts";

export const lowering: Lowering = /* @__PURE__ */ lowerFurther(newer, {
  tool: lowerTool,
  prompt: lowerPrompt,
  resource: lowerResource,
  resourceTemplate: lowerResource,
  content: lowerContent,
  callToolResult: (result) => without({ ...result, content: result.content.map(lowerContent) }, "structuredContent"),
  getPromptResult: (result) => ({
    ...result,
    messages: result.messages.map((message) => ({ ...message, content: lowerContent(message.content) })),
  }),
  readResourceResult: (result) => ({
    ...result,
    contents: result.contents.map((content) => without(content, "_meta")),
  }),
  implementation: (implementation) => without(implementation, "title"),
});

/** A tool's title had a place in its annotations before it had one of its own. */
function lowerTool(tool: Tool): Tool {
  const { title } = tool;
  const lowered = without(tool, "title", "outputSchema", "_meta");
  return title === undefined ? lowered : { ...lowered, annotations: { title, ...lowered.annotations } };
}

function lowerPrompt(prompt: Prompt): Prompt {
  const lowered = describeByTitle(without(prompt, "_meta"));
  if (!lowered.arguments) return lowered;
  return { ...lowered, arguments: lowered.arguments.map(describeByTitle) };
}

function lowerResource<T extends { title?: string; description?: string; annotations?: Annotations }>(resource: T): T {
  return lowerAnnotations(describeByTitle(without(resource, "_meta")));
}

/** A title with no place of its own stands in for a description that is missing. */
function describeByTitle<T extends { title?: string; description?: string }>(thing: T): T {
  const { title } = thing;
  const lowered = without(thing, "title");
  return title === undefined || lowered.description !== undefined ? lowered : { ...lowered, description: title };
}

function lowerAnnotations<T extends { annotations?: Annotations }>(thing: T): T {
  if (thing.annotations?.lastModified === undefined) return thing;
  const annotations = without(thing.annotations, "lastModified");
  return Object.keys(annotations).length > 0 ? { ...thing, annotations } : without(thing, "annotations");
}

function lowerContent(content: ContentBlock): ContentBlock {
  if (content.type === "resource_link") return linkAsText(content);
  const lowered = lowerAnnotations(without(content, "_meta"));
  return lowered.type === "resource" ? { ...lowered, resource: without(lowered.resource, "_meta") } : lowered;
}

function linkAsText(link: ResourceLink): TextContent {
  const label = link.title ?? link.name;
  const description = link.description === undefined ? "" : `: ${link.description}`;
  const text: TextContent = { type: "text", text: `[${label}](${link.uri})${description}` };
  return link.annotations ? lowerAnnotations({ ...text, annotations: link.annotations }) : text;
}
