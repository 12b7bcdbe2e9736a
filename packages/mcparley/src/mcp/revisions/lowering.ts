import type { JsonObject } from "../../rpc/messages.ts";
import type { Implementation } from "../capabilities.ts";
import type { ContentBlock } from "../content.ts";
import type { ElicitParams, ElicitResult } from "../elicitation.ts";
import type { GetPromptResult, Prompt } from "../prompts.ts";
import type { ReadResourceResult, Resource, ResourceTemplate } from "../resources.ts";
import type { CreateMessageParams } from "../sampling.ts";
import type { CallToolResult, Tool } from "../tools.ts";

/** A form or a URL in the words of one revision, with the way its answer is read back into the neutral shape. */
export interface LoweredElicitation {
  params: ElicitParams;
  lift: (result: ElicitResult) => ElicitResult;
}

/**
 * How the things of the protocol are said in one revision.
 *
 * The neutral shape is that of the newest revision; each function takes it and gives what this revision has words for.
 * What an old client cannot show arrives as something it can, so nothing is silently lost.
 */
export interface Lowering {
  tool: (tool: Tool) => Tool;
  prompt: (prompt: Prompt) => Prompt;
  resource: (resource: Resource) => Resource;
  resourceTemplate: (template: ResourceTemplate) => ResourceTemplate;
  content: (content: ContentBlock) => ContentBlock;
  callToolResult: (result: CallToolResult) => CallToolResult;
  getPromptResult: (result: GetPromptResult) => GetPromptResult;
  readResourceResult: (result: ReadResourceResult) => ReadResourceResult;
  implementation: (implementation: Implementation) => Implementation;
  progress: (params: JsonObject) => JsonObject;
  elicitation: (params: ElicitParams) => LoweredElicitation;
  createMessage: (params: CreateMessageParams) => CreateMessageParams;
}

const same = <T>(value: T): T => value;

/** The newest revision's lowering: everything is said as it is. */
export const identity: Lowering = {
  tool: same,
  prompt: same,
  resource: same,
  resourceTemplate: same,
  content: same,
  callToolResult: same,
  getPromptResult: same,
  readResourceResult: same,
  implementation: same,
  progress: same,
  elicitation: (params) => ({ params, lift: same }),
  createMessage: same,
};

type Step = { [K in Exclude<keyof Lowering, "elicitation">]?: Lowering[K] } & {
  elicitation?: Lowering["elicitation"];
};

/** The lowering of an older revision: that of the next newer one, and then what this one lacks. */
export function lowerFurther(newer: Lowering, step: Step): Lowering {
  const lowering: Lowering = {
    tool: chain(newer.tool, step.tool),
    prompt: chain(newer.prompt, step.prompt),
    resource: chain(newer.resource, step.resource),
    resourceTemplate: chain(newer.resourceTemplate, step.resourceTemplate),
    content: chain(newer.content, step.content),
    callToolResult: chain(newer.callToolResult, step.callToolResult),
    getPromptResult: chain(newer.getPromptResult, step.getPromptResult),
    readResourceResult: chain(newer.readResourceResult, step.readResourceResult),
    implementation: chain(newer.implementation, step.implementation),
    progress: chain(newer.progress, step.progress),
    elicitation: chainElicitation(newer.elicitation, step.elicitation),
    createMessage: chain(newer.createMessage, step.createMessage),
  };
  return lowering;
}

function chain<T>(first: (value: T) => T, second: ((value: T) => T) | undefined): (value: T) => T {
  if (!second) return first;
  return first === same ? second : (value) => second(first(value));
}

function chainElicitation(
  first: Lowering["elicitation"],
  second: Lowering["elicitation"] | undefined,
): Lowering["elicitation"] {
  if (!second) return first;
  return (params) => {
    const newer = first(params);
    const older = second(newer.params);
    return { params: older.params, lift: (result) => newer.lift(older.lift(result)) };
  };
}

/** A copy of an object without some of its members; the object itself where it has none of them. */
export function without<T extends object>(value: T, ...keys: string[]): T {
  if (!keys.some((key) => key in value)) return value;
  // An object from which something was deleted is slow ever after, and this one is about to be serialised.
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T;
}
