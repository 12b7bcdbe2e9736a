// @ts-check
import { bunWorkloads } from "./bun.mjs";
import { clientWorkloads } from "./clients.mjs";
import { commandWorkloads } from "./commands.mjs";
import { hostWorkloads } from "./hosts.mjs";
import { httpWorkloads } from "./http.mjs";
import { largeWorkloads } from "./large.mjs";
import { sessionWorkloads } from "./sessions.mjs";
import { startWorkloads } from "./start.mjs";
import { stdioWorkloads } from "./stdio.mjs";
import { toolsWorkloads } from "./tools.mjs";
import { validationWorkloads } from "./validation.mjs";

/** @import { Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

/** Returns all workloads in their order. @param {Plan} plan @returns {Workload[]} */
export function allWorkloads(plan) {
  const makers = [
    httpWorkloads,
    bunWorkloads,
    toolsWorkloads,
    sessionWorkloads,
    stdioWorkloads,
    clientWorkloads,
    hostWorkloads,
    startWorkloads,
    commandWorkloads,
    validationWorkloads,
    largeWorkloads,
  ];
  return makers.flatMap((make) => make(plan));
}
