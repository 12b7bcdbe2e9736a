import type { LoggingMessage } from "mcparley/client";
import type { CatalogueChange } from "../catalogue/catalogue.ts";
import type { SchemaLoss } from "../catalogue/schema-loss.ts";
import type { DecisionRecord } from "../consent/decision-record.ts";
import type { ServerEvent } from "../servers/server-state.ts";

/** An event of a host. Texts of servers are not escaped, and no event contains arguments, results or secrets. */
export type HostEvent =
  | ServerEvent
  | { readonly type: "catalogue"; readonly change: CatalogueChange }
  | { readonly type: "loss"; readonly loss: SchemaLoss }
  | { readonly type: "decision"; readonly decision: DecisionRecord }
  | { readonly type: "log"; readonly server: string; readonly message: LoggingMessage }
  | { readonly type: "updated"; readonly server: string; readonly uri: string }
  | { readonly type: "error"; readonly server: string | undefined; readonly error: Error };
