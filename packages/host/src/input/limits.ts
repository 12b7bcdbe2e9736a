/** Limits on the input requests of one server. A request over a limit is declined without a question. */
export interface InputLimits {
  /** Maximum elicitations within one call. Default: 5. */
  readonly elicitationsPerCall: number;
  /** Maximum sampling requests within one call. Default: 10. */
  readonly samplesPerCall: number;
  /** Maximum input requests of a server in a minute. Default: 30. */
  readonly requestsPerMinute: number;
  /** Maximum tokens of one answer of the model. Default: 4,096. */
  readonly tokensPerSample: number;
  /** Maximum tokens that all answers for a server may have in total. Default: 100,000. */
  readonly tokensPerServer: number;
}
