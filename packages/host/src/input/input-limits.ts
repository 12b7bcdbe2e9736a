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

/** The limits of a server without settings. */
export const defaultLimits: InputLimits = {
  elicitationsPerCall: 5,
  samplesPerCall: 10,
  requestsPerMinute: 30,
  tokensPerSample: 4_096,
  tokensPerServer: 100_000,
};

/** Returns the limits with the defaults of omitted ones. Throws a `RangeError` for a value that is not a number of at least 0. */
export function checkLimits(...settings: readonly (Partial<InputLimits> | undefined)[]): InputLimits {
  const limits = { ...defaultLimits };
  for (const name of Object.keys(defaultLimits) as (keyof InputLimits)[]) {
    for (const setting of settings) {
      const value = setting?.[name];
      if (value === undefined) continue;
      if (value !== Infinity && !(Number.isInteger(value) && value >= 0)) {
        throw new RangeError(`inputLimits.${name} must be an integer of at least 0, or Infinity; got ${value}.`);
      }
      limits[name] = value;
    }
  }
  return limits;
}
