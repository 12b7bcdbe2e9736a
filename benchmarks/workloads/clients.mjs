// @ts-check
import { floor } from "../implementations/implementations.mjs";
import { clientTurns } from "../measure/client-turns.mjs";
import { modeNames } from "./http.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { Contender, Implementation, Measure, Workload } from "../types.ts" */
/** @import { ClientCase } from "../measure/client-turns.mjs" */
/** @import { Plan } from "./plan.mjs" */

/** @type {readonly Measure[]} */
const measures = [
  { key: "cpu", title: "client CPU, µs", better: "lower", digits: 1, ratio: "CPU × floor" },
  { key: "perSecond", title: "calls/s", better: "higher", digits: 0, ratio: "× floor" },
  { key: "p50", title: "p50, ms", better: "lower", digits: 3 },
  { key: "p99", title: "p99, ms", better: "lower", digits: 3 },
];

/** Clients, which call the floor's server over each transport. @param {Plan} plan @returns {Workload[]} */
export function clientWorkloads(plan) {
  return /** @type {const} */ (["memory", "stdio", "http"]).flatMap((way) =>
    /** @type {const} */ (["stateless", "modern"]).map((mode) => workloadOf({ way, mode }, plan)),
  );
}

/** @param {ClientCase} clientCase @param {Plan} plan @returns {Workload} */
function workloadOf(clientCase, plan) {
  const { way, mode } = clientCase;
  return {
    id: `client/${way}/${mode}`,
    section: "Clients",
    title: `callTool echo, ${way === "http" ? "HTTP" : way}, ${modeNames[mode]}, one call after another`,
    reference: floor,
    measures:
      way === "memory" ? measures.map(({ key, title, better, digits }) => ({ key, title, better, digits })) : measures,
    amount: plan.amount,
    rounds: plan.rounds.own,
    contenders: plan.implementations.map((one) => contenderOf(one, clientCase, plan)),
  };
}

/** @param {Implementation} implementation @param {ClientCase} clientCase @param {Plan} plan @returns {Contender} */
function contenderOf(implementation, clientCase, plan) {
  const { name, client } = implementation;
  const { way, mode } = clientCase;
  if (!client) return { name, notRun: "It has no client." };
  if (!client.includes(mode)) return { name, notRun: `Its client does not speak ${modeNames[mode]}.` };
  if (name === floor && way === "memory") return { name, notRun: "The floor has no transport in memory." };
  const start = () => clientTurns(implementation, clientCase, plan.peers);
  return { name, start, rounds: roundsOf(name, plan.rounds) };
}
