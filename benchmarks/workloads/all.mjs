// @ts-check
import { httpWorkloads } from "./http.mjs";
import { sessionWorkloads } from "./sessions.mjs";
import { stdioWorkloads } from "./stdio.mjs";

/** @import { Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

/** Everything that is measured, in its order. @param {Plan} plan @returns {Workload[]} */
export function allWorkloads(plan) {
  return [...httpWorkloads(plan), ...sessionWorkloads(plan), ...stdioWorkloads(plan)];
}
