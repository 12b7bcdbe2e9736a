/** The duration of the properties, set by `npm run fuzz`. In `npm test` each has a short share. */
export interface Plan {
  /** Milliseconds for each property. */
  share: number;
  /** The seed of the random values. Default: random. */
  seed: number | undefined;
  /** The way to one failing case, as a failure prints it. */
  path: string | undefined;
}

const shareInTests = 180;

export const plan: Plan = {
  share: Number(process.env.FUZZ_SHARE ?? shareInTests),
  seed: process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED),
  path: process.env.FUZZ_PATH,
};
