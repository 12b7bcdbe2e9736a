import { invalidParams } from "../../rpc/errors.ts";
import { readLoggingLevel } from "../../mcp/logging.ts";
import { Method } from "../../mcp/methods.ts";
import { readCursor, readResourceUri } from "../../mcp/resources.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import { supportedVersions } from "../../mcp/revisions/index.ts";
import type { Call } from "./call.ts";
import { resourceNotFound } from "../features/resource-not-found.ts";
import type { PreparedLists } from "../lists.ts";
import type { Answer } from "./middleware.ts";
import type { Offering } from "../offering.ts";

interface MethodEntry {
  answer: Answer;
  /** Whether a server with this offering has the method at all. */
  offered: (offering: Offering) => boolean;
}

const always = (): boolean => true;
const tools = (offering: Offering): boolean => offering.offers("tools");
const prompts = (offering: Offering): boolean => offering.offers("prompts");
const resources = (offering: Offering): boolean => offering.offers("resources");
const completions = (offering: Offering): boolean => offering.completes();

/**
 * What answers each method. Which of them a client has is said by its revision; `initialize`, which makes a session
 * rather than being answered in one, is not among them.
 */
export const methodTable: ReadonlyMap<string, MethodEntry> = new Map<string, MethodEntry>([
  [Method.ping, { offered: always, answer: () => ({}) }],
  [Method.discover, { offered: always, answer: discover }],
  [Method.listen, { offered: always, answer: listenFromNow }],
  [Method.setLevel, { offered: always, answer: setLevel }],
  [Method.listTools, { offered: tools, answer: (call) => page(call, call.core.offering.toolList) }],
  [Method.callTool, { offered: tools, answer: byFeature }],
  [Method.listPrompts, { offered: prompts, answer: (call) => page(call, call.core.offering.promptList) }],
  [Method.getPrompt, { offered: prompts, answer: byFeature }],
  [Method.listResources, { offered: resources, answer: byFeature }],
  [Method.listResourceTemplates, { offered: resources, answer: (call) => page(call, call.core.offering.templateList) }],
  [Method.readResource, { offered: resources, answer: byFeature }],
  [Method.subscribe, { offered: resources, answer: subscribe }],
  [Method.unsubscribe, { offered: resources, answer: unsubscribe }],
  [Method.complete, { offered: completions, answer: byFeature }],
]);

/**
 * Begins to listen with the request itself: a client need not wait for its acknowledgment before it sends what brings
 * about a change, and what it takes to answer may have to be loaded first.
 */
async function listenFromNow(call: Call): Promise<JsonObject> {
  const missed = call.core.changes.record();
  try {
    const { listen } = await import("../features/listen.ts");
    return await listen(call, missed);
  } finally {
    missed.end();
  }
}

/** Answers by the feature that a definition brought along; one that is offered and yet empty has brought none. */
function byFeature(call: Call): ReturnType<Answer> {
  const { offering } = call.core;
  const answer = offering.answers.get(call.method);
  if (answer) return answer(call);
  if (call.method === Method.listResources) return page(call, offering.resourceList);
  if (call.method === Method.readResource) throw resourceNotFound(readResourceUri(call.params));
  throw invalidParams(`Unknown name: ${String(call.params.name).slice(0, 200)}`);
}

function page(call: Call, list: PreparedLists<any>): Prepared {
  return list.page(call, readCursor(call.params));
}

function discover({ core }: Call): JsonObject {
  const { instructions } = core.definition;
  return {
    supportedVersions,
    capabilities: core.capabilities(),
    ...(instructions !== undefined && { instructions }),
    ...core.listCache,
  };
}

/** Sets the level of a legacy session; a modern client names its level in each request. */
function setLevel({ session, params }: Call): JsonObject {
  const level = readLoggingLevel(params.level, "params.level");
  if (session) session.logLevel = level;
  return {};
}

function subscribe({ session, params }: Call): JsonObject {
  session?.subscribe(readResourceUri(params));
  return {};
}

function unsubscribe({ session, params }: Call): JsonObject {
  session?.unsubscribe(readResourceUri(params));
  return {};
}
