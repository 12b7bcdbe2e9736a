import type { LoggingMessage } from "mcparley/client";
import type { CatalogueChange } from "../catalogue/catalogue.ts";
import type { SchemaLoss } from "../catalogue/schema-loss.ts";
import type { DecisionRecord } from "../consent/decision-record.ts";
import type { ModelRetry } from "../model/retries.ts";
import type { ServerEvent } from "../supervision/server-state.ts";

/** An event of a host. Texts of servers are not escaped, and no event contains arguments, results or secrets. */
export type HostEvent =
  | ServerEvent
  | {
      readonly type: "catalogue";
      /** The entries that changed. */
      readonly change: CatalogueChange;
    }
  | {
      readonly type: "loss";
      /** The lost part of the schema. */
      readonly loss: SchemaLoss;
    }
  | {
      readonly type: "decision";
      /** The record for an audit. */
      readonly decision: DecisionRecord;
    }
  | {
      readonly type: "retry";
      /** The name of the server that requested sampling. Undefined for a run. */
      readonly server: string | undefined;
      /** The failed try of a request to a model, and the next one. */
      readonly retry: ModelRetry;
    }
  | {
      readonly type: "log";
      /** The name of the server in the host. */
      readonly server: string;
      /** The message of the server. */
      readonly message: LoggingMessage;
    }
  | {
      readonly type: "updated";
      /** The name of the server in the host. */
      readonly server: string;
      /** The URI of the resource. */
      readonly uri: string;
    }
  | {
      readonly type: "sign-in";
      /** The name of the server in the host. */
      readonly server: string;
      /** A step of a sign-in or of the renewal of a token, as a line of text. */
      readonly step: string;
    }
  | {
      readonly type: "error";
      /** The name of the server in the host. */
      readonly server: string | undefined;
      /** The error, without known secrets. */
      readonly error: Error;
    };
