import { ErrorCode } from "../jsonrpc/errors.ts";
import { isObject } from "../jsonrpc/messages.ts";
import type { ElicitParams } from "../protocol/elicitation.ts";
import { Method, Notification } from "../protocol/methods.ts";
import type { CallToolResult, Tool } from "../protocol/tools.ts";
import { lowering as newerLowering } from "./2026-07-28.ts";
import { type LoweredElicitation, type Lowering, type Revision, lowerFurther, without } from "./revision.ts";

export const revision: Revision = {
  version: "2025-11-25",
  era: "legacy",
  clientRequests: new Set([
    Method.initialize,
    Method.ping,
    Method.listTools,
    Method.callTool,
    Method.listPrompts,
    Method.getPrompt,
    Method.listResources,
    Method.listResourceTemplates,
    Method.readResource,
    Method.subscribe,
    Method.unsubscribe,
    Method.complete,
    Method.setLevel,
  ]),
  clientNotifications: new Set([
    Notification.initialized,
    Notification.cancelled,
    Notification.progress,
    Notification.rootsChanged,
  ]),
  serverRequests: new Set([Method.ping, Method.elicit, Method.createMessage, Method.listRoots]),
  serverNotifications: new Set([
    Notification.cancelled,
    Notification.progress,
    Notification.message,
    Notification.toolsChanged,
    Notification.promptsChanged,
    Notification.resourcesChanged,
    Notification.resourceUpdated,
    Notification.elicitationComplete,
  ]),
  batches: false,
  dropCancels: false,
  versionHeader: true,
  mirrorHeaders: false,
  typedResults: false,
  resumable: true,
  resourceNotFoundCode: ErrorCode.ResourceNotFound,
  errorCodes: new Set([ErrorCode.ResourceNotFound, ErrorCode.UrlElicitationRequired]),
  requestedTasks: true,
  completionsCapability: true,
};

export const lowering: Lowering = /* @__PURE__ */ lowerFurther(newerLowering, {
  tool: requireObjectOutput,
  callToolResult: requireObjectContent,
  readResourceResult: (result) => without(result, "ttlMs", "cacheScope"),
  elicitation: identifyUrl,
});

/** Until this revision a tool's output was an object; what is not one is still in the result's text. */
function requireObjectOutput(tool: Tool): Tool {
  return tool.outputSchema === undefined || tool.outputSchema.type === "object" ? tool : without(tool, "outputSchema");
}

function requireObjectContent(result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  return structuredContent === undefined || isObject(structuredContent) ? result : without(result, "structuredContent");
}

function identifyUrl(params: ElicitParams): LoweredElicitation {
  const lowered = params.mode === "url" ? { elicitationId: crypto.randomUUID(), ...params } : params;
  return { params: lowered, lift: (result) => result };
}
