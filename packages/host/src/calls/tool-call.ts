import type { JsonObject } from "mcparley";
import type { CallToolResult } from "mcparley/client";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
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

/** The outcome of a tool call. Each has a text for the model if the call gave no result. */
export type ToolOutcome =
  | {
      readonly status: "result";
      /** The result of the server. */
      readonly result: CallToolResult;
    }
  /** Consent was not given. The server received nothing. */
  | {
      readonly status: "denied";
      /** The reason, for the model. */
      readonly message: string;
    }
  /** The call failed. `mayHaveRun` tells whether the server may have run it. */
  | {
      readonly status: "failed";
      /** The reason, for the model. */
      readonly message: string;
      /** The error of the call. */
      readonly error: Error;
      /** Whether the server may have run the tool. */
      readonly mayHaveRun: boolean;
    };

/** Calls a tool: consent, connection, call. It rejects only if the caller's signal is aborted. */
export type CallTool = (request: ToolCallRequest) => Promise<ToolOutcome>;
