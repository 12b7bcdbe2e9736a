import type { JsonObject } from "mcparley";
import type { Tool } from "mcparley/client";

/** The origin of a tool call. */
export interface CallOrigin {
  /** The id of the call in its run, or a new one. */
  readonly callId: string;
  /**
   * The requester: the model of a run, the program with `host.callTool`, or the user with `callTool` of a conversation. A renderer can
   * allow a call that the user has just written without another question. Nothing else in the host treats it differently.
   */
  readonly by: "model" | "program" | "user";
}

/** A question whether a tool may be called. */
export interface ApprovalRequest {
  /** The call and its requester. */
  readonly origin: CallOrigin;
  /** The name of the server in the host. */
  readonly server: string;
  /** The definition of the tool, as the server sent it. */
  readonly tool: Tool;
  /** The exact arguments. */
  readonly arguments: JsonObject;
  /** The arguments as JSON with invisible and confusable characters escaped. */
  readonly shown: string;
}

/** The answer to an `ApprovalRequest`. */
export interface ApprovalAnswer {
  /** Whether the tool may be called. */
  readonly action: "allow" | "deny";
  /** The arguments to send, if the user edited them. They are checked against the schema. */
  readonly arguments?: JsonObject;
  /** Whether the answer holds for later calls of the tool with any arguments: of this host, or always. Default: only this call. */
  readonly remember?: "session" | "always";
  /** The reason of a denial, for the model. */
  readonly reason?: string;
}
