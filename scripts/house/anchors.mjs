// @ts-check

/**
 * The figures of comparable codebases, measured on 2026-11-22 in their source without tests. The figures are no limits.
 *
 * @typedef {object} Anchor
 * @property {string} connectEs
 * @property {string} hono
 * @property {string} jose
 * @property {string} goSdk
 * @property {string} officialV2 the official TypeScript SDK, version 2
 * @property {string} suggested the range that they suggest for this library
 */

/** @param {readonly [string, string, string, string, string, string]} figures @returns {Anchor} */
const anchor = ([connectEs, hono, jose, goSdk, officialV2, suggested]) => ({
  connectEs,
  hono,
  jose,
  goSdk,
  officialV2,
  suggested,
});

/** By the measure that they belong to. */
export const anchors = {
  size: anchor(["70 / 10.2k", "187 / 25.7k", "56 / 8.9k", "25 / 19.9k", "~130 / 38k", "~230 / ≤ 28k"]),
  medianFile: anchor(["98", "70", "133", "224", "154", "90–140"]),
  largestFolder: anchor(["19", "21", "26", "25", "19", "≤ 20"]),
  functions: anchor(["31", "33", "31", "", "35", "≤ 50"]),
  calledOnce: anchor(["46 %", "43 %", "27 %", "", "24–44 %", "≤ 45 %"]),
  classes: anchor(["2", "48", "27", "", "29", "≤ 60"]),
  casts: anchor(["3.1 / 0.2", "18 / 17", "9.5 / 0", "", "5–8 / 0", "≤ 5 / ≤ 0.5"]),
  oneImporter: anchor(["", "", "", "", "", "≤ 40"]),
  unusedExports: anchor(["", "", "", "", "", "0"]),
  examples: anchor(["14", "307", "243", "", "", "≥ 25"]),
  touched: anchor(["", "", "", "", "– / 159", "≤ 20 / ≤ 70"]),
  serverSpine: anchor(["5", "4", "", "4", "8", "≤ 7"]),
  clientSpine: anchor(["", "", "", "", "", "≤ 8"]),
  none: anchor(["", "", "", "", "", ""]),
};
