// @ts-check
import { floor } from "../implementations/implementations.mjs";
import { httpTurns } from "../measure/http-turns.mjs";
import { measures, modeNames } from "./http.mjs";
import { echo } from "./operations.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { Implementation, Mode, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

const one = nameOf(1);

/** Returns the workloads for the CPU time of a call by the number of tools. Each implementation is compared with itself with one tool. @param {Plan} plan @returns {Workload[]} */
export function toolsWorkloads(plan) {
  return plan.implementations
    .filter(({ http, name }) => http && name !== floor)
    .map((implementation) => workloadOf(implementation, plan));
}

/** @param {Implementation} implementation @param {Plan} plan @returns {Workload} */
function workloadOf(implementation, plan) {
  const { name, http } = implementation;
  // The way that each documents for requests that need no session, if it has one.
  /** @type {Mode} */
  const mode = http?.modes.includes("modern") ? "modern" : "stateless";
  const answers = http?.answers[0] ?? "json";
  const counts = plan.isQuick ? [1, 2_000] : [1, 50, 200, 2_000];
  const rounds = roundsOf(name, plan.rounds);
  return {
    id: `tools/${name}`,
    section: "Cost of a call, by the number of tools",
    title: `${name}, tools/call echo, ${modeNames[mode]}, 32 connections`,
    reference: one,
    measures: measures.map(({ ratio, ...rest }) =>
      ratio === undefined ? rest : { ...rest, ratio: ratio.replace("floor", "1 tool") },
    ),
    amount: plan.amount,
    rounds,
    contenders: counts.map((tools) => {
      const httpCase = { settings: { mode, answers, tools }, operation: echo, connections: 32 };
      return { name: nameOf(tools), start: () => httpTurns(implementation, httpCase, plan.peers) };
    }),
  };
}

/** @param {number} tools */
function nameOf(tools) {
  return tools === 1 ? "1 tool" : `${tools.toLocaleString("en-US")} tools`;
}
