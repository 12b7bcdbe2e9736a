import type { Progress } from "mcparley/client";
import type { Task } from "mcparley/tasks";

/** An event of one tool call, between its start and its result. */
export type CallActivity =
  | { readonly type: "approval"; readonly state: "waiting" | "approved" | "denied" }
  | { readonly type: "input-request"; readonly kind: InputKind; readonly state: "waiting" | "answered" | "declined" }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "task"; readonly task: Task };

/** The kind of an input request of a server. */
export type InputKind = "form" | "url" | "sampling" | "roots";
