// @ts-check
import { clientTurns } from "../measure/client-turns.mjs";
import { hostStartSample } from "../measure/host-start.mjs";

/** @import { ClientImplementation, Contender, Measure, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

const reference = "call-with-signal";

/** @type {readonly Measure[]} */
const measures = [
  { key: "cpu", title: "CPU of the process, µs", better: "lower", digits: 1, ratio: "CPU × client" },
  { key: "perSecond", title: "calls/s", better: "higher", digits: 0, ratio: "× client" },
  { key: "p50", title: "p50, ms", better: "lower", digits: 3 },
  { key: "p99", title: "p99, ms", better: "lower", digits: 3 },
];

/** Returns the workloads of a host with one server on stdio, whose calls a rule allows. The client of this library calls the same server. @param {Plan} plan @returns {Workload[]} */
export function hostWorkloads(plan) {
  const calls = ["host", "host-folder"].flatMap((name) => [1, 32].map((atOnce) => workloadOf({ name, atOnce }, plan)));
  return [...calls, startWorkload(plan)];
}

/** @param {Plan} plan @returns {Workload} */
function startWorkload({ rounds }) {
  return {
    id: "host/start/1000",
    section: "Hosts",
    title: "from createHost to a catalogue with 1,000 stored tools of a server that is not started",
    reference: "host",
    measures: [{ key: "cpu", title: "CPU of the process, ms", better: "lower", digits: 1 }],
    rounds: rounds.own,
    contenders: [{ name: "host", sample: () => Promise.resolve(hostStartSample()), rounds: rounds.own }],
  };
}

/** @param {{ name: string, atOnce: number }} variant @param {Plan} plan @returns {Workload} */
function workloadOf({ name, atOnce }, plan) {
  const rules = name === "host" ? "rules of the options" : "rules of a folder";
  return {
    id: `${name}/call/${atOnce}`,
    section: "Hosts",
    title: `host.callTool echo, stdio, ${rules}, ${atOnce === 1 ? "one call after another" : `${atOnce} calls at a time`}`,
    reference,
    measures,
    amount: plan.amount,
    rounds: plan.rounds.own,
    contenders: ["call-tool-result", reference, name].map((contender) => contenderOf(contender, { atOnce, plan })),
  };
}

/** @param {string} name @param {{ atOnce: number, plan: Plan }} how @returns {Contender} */
function contenderOf(name, { atOnce, plan }) {
  /** @type {ClientImplementation} */
  const client = { name, isPeer: false, modes: { stdio: ["modern"] } };
  const clientCase = /** @type {const} */ ({
    way: "stdio",
    mode: "modern",
    answers: "json",
    operation: "call",
    tools: 2,
  });
  return { name, start: () => clientTurns(client, { ...clientCase, atOnce }, plan.peers) };
}
