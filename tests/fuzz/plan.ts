/** How long the properties are tried, as `npm run fuzz` says; in `npm test` each has a short share. */
export interface Plan {
  /** Milliseconds for each property. */
  share: number;
  /** Where the random values begin; unset, anywhere. */
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
