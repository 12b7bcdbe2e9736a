import type { Progress } from "mcparley/client";
import type { Task } from "mcparley/tasks";

/** An event of one tool call, between its start and its result. */
export type CallActivity =
  | {
      readonly type: "approval";
      /** The state of the question. */
      readonly state: "waiting" | "approved" | "denied";
    }
  | {
      readonly type: "input-request";
      /** The kind of the input request. */
      readonly kind: InputKind;
      /** The state of the question. */
      readonly state: "waiting" | "answered" | "declined";
    }
  | {
      readonly type: "progress";
      /** The progress, as the server reports it. */
      readonly progress: Progress;
    }
  | {
      readonly type: "task";
      /** The task of the call. */
      readonly task: Task;
    };

/** The kind of an input request of a server. */
export type InputKind = "form" | "url" | "sampling" | "roots";
