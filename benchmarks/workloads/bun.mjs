// @ts-check
import { obtain } from "../../tests/interop/runtimes/obtain.mjs";
import { floor, own } from "../implementations/implementations.mjs";
import { httpTurns } from "../measure/http-turns.mjs";
import { measures, modeNames } from "./http.mjs";
import { echo } from "./operations.mjs";

/** @import { Implementation, Mode, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

/** Returns the workloads of `toFetch` on the HTTP server of Bun. The floor is a function of `Bun.serve`. @param {Plan} plan @returns {Workload[]} */
export function bunWorkloads(plan) {
  return /** @type {const} */ (["stateless", "modern"]).map((mode) => workloadOf(mode, plan));
}

/** @param {Mode} mode @param {Plan} plan @returns {Workload} */
function workloadOf(mode, { amount, rounds, implementations, peers }) {
  return {
    id: `bun/call/${mode}`,
    section: "HTTP on Bun",
    title: `${echo.name}, JSON, ${modeNames[mode]}, 32 connections, Bun`,
    reference: floor,
    measures,
    amount,
    rounds: rounds.own,
    contenders: implementations
      .filter(({ name }) => name === floor || name === own)
      .map((one) => ({ name: one.name, start: () => start(one, mode, peers) })),
  };
}

/** Throws if Bun is missing and cannot be installed. The contender is then reported as not run. @param {Implementation} implementation @param {Mode} mode @param {string} peers */
function start(implementation, mode, peers) {
  const { program: runtime, reason } = obtain("bun");
  if (runtime === undefined) throw new Error(reason);
  const settings = { mode, answers: /** @type {const} */ ("json"), tools: 2, runtime };
  return httpTurns(implementation, { settings, operation: echo, connections: 32 }, peers);
}
