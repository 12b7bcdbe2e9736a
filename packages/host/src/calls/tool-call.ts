import type { JsonObject } from "mcparley";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { ToolOutcome } from "../conversation/tool-outcome.ts";
import type { CallOrigin } from "../renderer/approval.ts";
import type { CallActivity } from "../activity/call-activity.ts";

/** A call of a tool of the catalogue. */
export interface ToolCallRequest {
  readonly tool: CatalogueTool;
  readonly arguments: JsonObject;
  readonly origin: CallOrigin;
  readonly signal?: AbortSignal;
  readonly onActivity?: (activity: CallActivity) => void;
}

/** Calls a tool: consent, connection, call. It rejects only if the caller's signal is aborted. */
export type CallTool = (request: ToolCallRequest) => Promise<ToolOutcome>;
