// @ts-check
import { own } from "../implementations/implementations.mjs";
import { largeSample } from "../large/sample.mjs";

/** @import { Measure, Workload } from "../types.ts" */
/** @import { LargeCase } from "../large/sample.mjs" */
/** @import { Plan } from "./plan.mjs" */

/** @type {Readonly<Record<LargeCase["way"], string>>} */
const ways = {
  json: "HTTP, JSON",
  sse: "HTTP, event stream of a session",
  stdio: "stdio",
  command: "mcparley read --output, HTTP",
};
/** @type {Readonly<Record<LargeCase["source"], string>>} */
const sources = { bytes: "a Uint8Array", file: "a file stream" };

/** @type {Measure} */
const server = { key: "server", title: "server, × encoded", better: "lower", digits: 2 };
/** @type {Measure} */
const client = { key: "client", title: "client, × encoded", better: "lower", digits: 2 };

/** @type {readonly LargeCase[]} */
const cases = [
  { way: "json", source: "bytes" },
  { way: "json", source: "file" },
  { way: "sse", source: "bytes" },
  { way: "stdio", source: "bytes" },
  { way: "stdio", source: "file" },
  { way: "command", source: "bytes" },
];

/** Peak memory for a resource of 64 MiB, on each transport. @param {Plan} plan @returns {Workload[]} */
export function largeWorkloads(plan) {
  return cases.map((large) => ({
    id: large.way === "command" ? "large/command" : `large/${large.way}/${large.source}`,
    section: "Large resources",
    title: `Peak memory for 64 MiB from ${sources[large.source]}: ${ways[large.way]}`,
    measures: large.way === "command" ? [client] : [server, client],
    rounds: plan.sideRounds.own,
    contenders: [{ name: own, sample: () => largeSample(large) }],
  }));
}
