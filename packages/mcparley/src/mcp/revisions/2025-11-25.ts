import { ErrorCode } from "../errors.ts";
import { isObject } from "../../rpc/messages.ts";
import type { ElicitParams } from "../elicitation.ts";
import { Method, Notification } from "../methods.ts";
import { type CallToolResult, type Tool, moveStructuredContent } from "../tools.ts";
import { encoder as newerEncoder } from "./2026-07-28.ts";
import { type EncodedElicitation, type Encoder, deriveEncoder, omit } from "./encoder.ts";
import type { Revision } from "./revision.ts";

/** The last revision with sessions and with requests that the server sends. */
export const revision: Revision = {
  version: "2025-11-25",
  kind: "legacy",
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
  polls: true,
  resourceNotFoundCode: ErrorCode.ResourceNotFound,
  errorCodes: new Set([ErrorCode.ResourceNotFound, ErrorCode.UrlElicitationRequired]),
  reservesCodes: false,
  requestedTasks: true,
  completionsCapability: true,
  inputModes: true,
  completionContext: true,
};

export const encoder: Encoder = /* @__PURE__ */ deriveEncoder(newerEncoder, {
  tool: requireObjectOutput,
  callToolResult: requireObjectContent,
  readResourceResult: (result) => omit(result, "ttlMs", "cacheScope"),
  elicitation: identifyUrl,
  createMessage: (params) => (params.tools ? { ...params, tools: params.tools.map(requireObjectOutput) } : params),
});

/** The output of a tool had to be an object. Any other output is in the text and in the `_meta` of the result. */
function requireObjectOutput(tool: Tool): Tool {
  return tool.outputSchema === undefined || tool.outputSchema.type === "object" ? tool : omit(tool, "outputSchema");
}

function requireObjectContent(result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  return isObject(structuredContent) ? result : moveStructuredContent(result);
}

function identifyUrl(params: ElicitParams): EncodedElicitation {
  const encodedParams = params.mode === "url" ? { elicitationId: crypto.randomUUID(), ...params } : params;
  return { params: encodedParams, decode: (result) => result };
}
