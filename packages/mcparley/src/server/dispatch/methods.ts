import { ErrorCode } from "../../mcp/errors.ts";
import { ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { readCursor, readResourceUri } from "../../mcp/resources.ts";
import { isPromise } from "../../rpc/awaitable.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import { checkResult } from "../../mcp/checks/check-content.ts";
import type { ContentBlock } from "../../mcp/content.ts";
import type { CallToolResult } from "../../mcp/tools.ts";
import type { Answer, Call } from "../core/call.ts";
import { resourceNotFound } from "../features/resources.ts";
import type { PageList, ServerFeature } from "../core/server-core.ts";

interface MethodEntry {
  answer: Answer;
  /** A server without this feature does not have the method. Undefined if every server has it. */
  feature?: ServerFeature;
}

/**
 * The methods of MCP. The revision of a call defines which of them exist. `initialize` is not in the table, because it
 * opens a session.
 */
export const methodTable: ReadonlyMap<string, MethodEntry> = new Map<string, MethodEntry>([
  [Method.ping, { answer: () => ({}) }],
  [Method.discover, { answer: discover }],
  [Method.listen, { answer: listenFromNow }],
  [Method.setLevel, { feature: "logging", answer: inSession }],
  [Method.listTools, { feature: "tools", answer: (call) => page(call, call.core.offering.toolList) }],
  [Method.callTool, { feature: "tools", answer: byFeature }],
  [Method.listPrompts, { feature: "prompts", answer: (call) => page(call, call.core.offering.promptList) }],
  [Method.getPrompt, { feature: "prompts", answer: byFeature }],
  [Method.listResources, { feature: "resources", answer: byFeature }],
  [
    Method.listResourceTemplates,
    { feature: "resources", answer: (call) => page(call, call.core.offering.templateList) },
  ],
  [Method.readResource, { feature: "resources", answer: byFeature }],
  [Method.subscribe, { feature: "subscriptions", answer: inSession }],
  [Method.unsubscribe, { feature: "subscriptions", answer: inSession }],
  [Method.complete, { feature: "completions", answer: byFeature }],
]);

/**
 * Answers a call by its method: one of an extension, or one of the table.
 *
 * Throws -32601 if the revision does not have the method, or the server offers nothing of its feature.
 */
export function answerMethod(call: Call): ReturnType<Answer> {
  const { core, method, revision } = call;
  const extensionMethod = core.extensionMethods.get(method);
  if (extensionMethod && (extensionMethod.revisionKinds ?? ["modern"]).includes(revision.kind))
    return extensionMethod.answer(call);
  const entry = revision.clientRequests.has(method) ? methodTable.get(method) : undefined;
  if (entry && (!entry.feature || core.offering.offers(entry.feature))) return entry.answer(call);
  throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method.slice(0, 200)}`);
}

/**
 * Answers `subscriptions/listen`. Changes are recorded from here on, because a client may cause one before it receives the
 * acknowledgment. The feature is loaded on first use: few clients subscribe.
 */
async function listenFromNow(call: Call): Promise<JsonObject> {
  const recording = call.core.changes.record();
  try {
    const { listen } = await import("../features/subscriptions.ts");
    return await listen(call, recording);
  } finally {
    recording.end();
  }
}

/** Calls the feature's answer function. A feature without definitions has none, and is answered as if its list is empty. */
function byFeature(call: Call): ReturnType<Answer> {
  const { offering } = call.core;
  const answer = offering.answers.get(call.method);
  if (answer) {
    const result = answer(call);
    return isPromise(result) ? result.then(validateContent) : validateContent(result);
  }
  if (call.method === Method.listResources) return page(call, offering.resourceList);
  if (call.method === Method.readResource) throw resourceNotFound(readResourceUri(call.params));
  throw invalidParams(`Unknown name: ${String(call.params.name).slice(0, 200)}`);
}

type Result = Awaited<ReturnType<Answer>>;

/** Returns a result if its content is valid. */
function validateContent(result: Result): Result {
  const { content, messages, contents, _meta } = result as JsonObject & Partial<CallToolResult>;
  if (!messages && !contents && !_meta && !content?.some(isNotPlain)) return result;
  return checkResult(result as JsonObject);
}

/** Returns whether a block is no text, or has annotations or `_meta`. */
function isNotPlain(block: ContentBlock): boolean {
  return block?.type !== "text" || typeof block.text !== "string" || Object.keys(block).length > 2;
}

function page(call: Call, list: PageList): Prepared {
  return list.page(call, readCursor(call.params));
}

function discover({ core }: Call): JsonObject {
  const { instructions } = core.definition;
  return {
    supportedVersions: core.versions,
    capabilities: core.capabilities(),
    ...(instructions !== undefined && { instructions }),
    ...core.listCache,
  };
}

/** Answers a method that changes the state of a session. Only legacy revisions have such methods, and sessions. */
function inSession(call: Call): JsonObject {
  return call.session!.change(call);
}
