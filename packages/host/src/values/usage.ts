/** The tokens of one or several requests to a model, as its provider reports them. */
export interface Usage {
  /** The tokens of the requests, with those that were read from a cache or written to it. */
  readonly inputTokens: number;
  /** The tokens of the answers, with those of the reasoning. */
  readonly outputTokens: number;
  /** The input tokens that the provider read from its cache. Undefined if it reports none. */
  readonly cacheReadTokens?: number;
  /** The input tokens that the provider wrote to its cache. Undefined if it reports none. */
  readonly cacheWriteTokens?: number;
  /** The output tokens of the reasoning. Undefined if the provider reports none. */
  readonly reasoningTokens?: number;
  /** Whether a part is an estimate, because the provider reported none. */
  readonly isEstimated?: boolean;
}

/** The tokens of requests to one model, for a run or for a server. */
export interface OriginUsage extends Usage {
  /** The name of the server that requested sampling. Undefined for requests of a run itself. */
  readonly server?: string;
  /** The model, as `provider/modelId`. */
  readonly model: string;
}

/** The tokens of all requests, in total and by their origins. */
export interface TotalUsage extends Usage {
  /** One entry for each server and model. Their sum is the total. */
  readonly origins: readonly OriginUsage[];
}
