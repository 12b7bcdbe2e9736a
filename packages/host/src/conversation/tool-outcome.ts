import type { JsonObject } from "mcparley";
import type { CallToolResult } from "mcparley/client";

/** The outcome of a tool call. Each has a text for the model if the call gave no result. */
export type ToolOutcome =
  | {
      readonly status: "result";
      /** The result of the server. */
      readonly result: CallToolResult;
      /**
       * The reason why the structured content does not match the output schema of the tool. Undefined if it does. The result still has
       * the structured content. The model receives the rest of the result, with a remark that it is not checked.
       */
      readonly mismatch?: string;
      /** The arguments that were sent, if the user edited them. */
      readonly editedArguments?: JsonObject;
    }
  /** Consent was not given. The server received nothing. */
  | {
      readonly status: "denied";
      /** The reason, for the model. */
      readonly message: string;
    }
  /** The call failed. `mayHaveRun` is true if the server may have run it. */
  | {
      readonly status: "failed";
      /** The reason, for the model. */
      readonly message: string;
      /** The error of the call. */
      readonly error: Error;
      /** Whether the server may have run the tool. */
      readonly mayHaveRun: boolean;
    };
