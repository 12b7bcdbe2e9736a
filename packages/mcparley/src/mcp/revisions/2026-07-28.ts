import { ErrorCode } from "../errors.ts";
import { Method, Notification } from "../methods.ts";
import { type Encoder, identity } from "./encoder.ts";
import type { Revision } from "./revision.ts";

/** The first revision without sessions. Servers request input in results, and each request is complete by itself. */
export const revision: Revision = {
  version: "2026-07-28",
  kind: "modern",
  clientRequests: new Set([
    Method.discover,
    Method.listTools,
    Method.callTool,
    Method.listPrompts,
    Method.getPrompt,
    Method.listResources,
    Method.listResourceTemplates,
    Method.readResource,
    Method.complete,
    Method.listen,
  ]),
  clientNotifications: new Set([Notification.cancelled]),
  serverRequests: new Set([Method.elicit, Method.createMessage, Method.listRoots]),
  serverNotifications: new Set([
    Notification.cancelled,
    Notification.progress,
    Notification.message,
    Notification.acknowledged,
    Notification.toolsChanged,
    Notification.promptsChanged,
    Notification.resourcesChanged,
    Notification.resourceUpdated,
  ]),
  batches: false,
  dropCancels: true,
  versionHeader: true,
  mirrorHeaders: true,
  typedResults: true,
  resumable: false,
  polls: false,
  resourceNotFoundCode: ErrorCode.InvalidParams,
  errorCodes: new Set([
    ErrorCode.HeaderMismatch,
    ErrorCode.MissingRequiredClientCapability,
    ErrorCode.UnsupportedProtocolVersion,
  ]),
  reservesCodes: true,
  requestedTasks: false,
  completionsCapability: true,
  inputModes: true,
  completionContext: true,
};

/** The library's own types are those of this revision, so nothing is changed. */
export const encoder: Encoder = identity;
