import type { LoggingMessage, Progress } from "mcparley/client";
import type { Task } from "mcparley/tasks";
import type { CatalogueChange } from "./catalogue/catalogue.ts";
import type { SchemaLoss } from "./catalogue/schema-loss.ts";
import type { DecisionRecord } from "./consent/decision-record.ts";
import type { ServerState } from "./servers/server-state.ts";

/** An event of a host. Texts of servers are not escaped, and no event contains arguments, results or secrets. */
export type HostEvent =
  | ServerEvent
  | { readonly type: "catalogue"; readonly change: CatalogueChange }
  | { readonly type: "loss"; readonly loss: SchemaLoss }
  | { readonly type: "decision"; readonly decision: DecisionRecord }
  | { readonly type: "log"; readonly server: string; readonly message: LoggingMessage }
  | { readonly type: "updated"; readonly server: string; readonly uri: string }
  | { readonly type: "error"; readonly server: string | undefined; readonly error: Error };

/** A server has changed its state. */
export interface ServerEvent {
  readonly type: "server";
  readonly server: string;
  readonly state: ServerState;
  /** The reason of `failed` and `needs-sign-in`. */
  readonly error?: Error;
  /** The time of the next attempt, in milliseconds since 1970, if one is planned. */
  readonly retryAt?: number;
}

/** An event of one tool call, between its start and its result. */
export type CallActivity =
  | { readonly type: "approval"; readonly state: "waiting" | "approved" | "denied" }
  | { readonly type: "input-request"; readonly kind: InputKind; readonly state: "waiting" | "answered" | "declined" }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "task"; readonly task: Task };

/** The kind of an input request of a server. */
export type InputKind = "form" | "url" | "sampling" | "roots";
