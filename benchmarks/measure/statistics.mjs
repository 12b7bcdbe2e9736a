// @ts-check

/** @import { Sample, Summary } from "../types.ts" */

/** Returns the median. @param {readonly number[]} values at least one */
export function median(values) {
  return quantile(values, 0.5);
}

/** Returns the quantile `share`, interpolated between two values. @param {readonly number[]} values at least one @param {number} share */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new Error("The list of values is empty.");
  return below + (above - below) * (place % 1);
}

/** @param {readonly number[]} values at least one @returns {Summary} */
export function summarise(values) {
  const middle = median(values);
  const off = median(values.map((value) => Math.abs(value - middle)));
  return {
    median: middle,
    lowest: Math.min(...values),
    highest: Math.max(...values),
    spread: middle === 0 ? 0 : off / Math.abs(middle),
  };
}

/**
 * Returns the figures of some samples by the figures of other samples of the same rounds, by their keys. Empty if a round has no other sample.
 *
 * @param {readonly Sample[]} samples @param {readonly Sample[]} others @returns {Record<string, Summary>}
 */
export function ratiosOf(samples, others) {
  const [first] = samples;
  if (!first || others.length < samples.length) return {};
  const ratiosIn = (/** @type {string} */ key) =>
    samples.map((sample, round) => (sample[key] ?? NaN) / (others[round]?.[key] ?? NaN));
  return Object.fromEntries(Object.keys(first).map((key) => [key, summarise(ratiosIn(key))]));
}
