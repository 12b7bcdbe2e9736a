import type { CreateMessageParams, CreateMessageResult } from "mcparley/client";
import type { InputOrigin } from "./elicitation.ts";

/** A request of a server to run the model, before it runs. */
export interface SampleRequest {
  readonly origin: InputOrigin;
  /** The request as it will be sent to the model, with the limits applied. */
  readonly request: CreateMessageParams;
  /** The model that was chosen by the hints. */
  readonly model: string;
  /** The servers whose context is included, by `includeContext`. */
  readonly contextOf: readonly string[];
  /** Tokens that remain for this server. */
  readonly tokensLeft: number;
}

/** The answer to a `SampleRequest`. */
export interface SampleAnswer {
  readonly action: "allow" | "deny";
  /** The request to send instead, if the user edited it. */
  readonly request?: CreateMessageParams;
}

/** The answer of the model, before it is sent to the server. */
export interface SampledRequest {
  readonly origin: InputOrigin;
  /** The request as it was sent to the model. */
  readonly request: CreateMessageParams;
  /** The answer that the server would receive. */
  readonly result: CreateMessageResult;
}

/** The answer to a `SampledRequest`. */
export interface SampledAnswer {
  readonly action: "allow" | "deny";
  /** The result to send instead, if the user edited it. */
  readonly result?: CreateMessageResult;
}
