// @ts-check
import { floor } from "../implementations/implementations.mjs";
import { clientTurns } from "../measure/client-turns.mjs";
import { answerNames, modeNames } from "./http.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { ClientImplementation, Contender, Measure, Workload } from "../types.ts" */
/** @import { ClientCase } from "../measure/client-turns.mjs" */
/** @import { Plan, Rounds } from "./plan.mjs" */

/** @type {readonly Measure[]} */
const measures = [
  { key: "cpu", title: "client CPU, µs", better: "lower", digits: 1, ratio: "CPU × floor" },
  { key: "perSecond", title: "calls/s", better: "higher", digits: 0, ratio: "× floor" },
  { key: "p50", title: "p50, ms", better: "lower", digits: 3 },
  { key: "p99", title: "p99, ms", better: "lower", digits: 3 },
];

const wayNames = { memory: "memory", stdio: "stdio", http: "HTTP" };
const many = 32;
const listed = 50;

/** @typedef {Pick<ClientCase, "way" | "mode"> & Partial<ClientCase> & { isSide?: boolean }} Variant `isSide`: it has no target */

/** Returns the workloads of clients over each transport. The server is on the other core, or a function in memory. @param {Plan} plan @returns {Workload[]} */
export function clientWorkloads(plan) {
  return variants().map((variant) => workloadOf(variant, plan));
}

/** @returns {Variant[]} */
function variants() {
  /** @type {Variant[]} */
  const chosen = [];
  for (const mode of /** @type {const} */ (["stateless", "modern"])) {
    const isSide = mode === "stateless";
    const list = /** @type {const} */ ({ operation: "list", tools: listed });
    chosen.push({ way: "memory", mode }, { way: "memory", mode, ...list }, { way: "stdio", mode, isSide: true });
    for (const answers of /** @type {const} */ (["json", "sse"])) {
      for (const atOnce of [1, many]) chosen.push({ way: "http", mode, answers, atOnce, isSide });
    }
    chosen.push({ way: "http", mode, ...list, isSide });
  }
  return chosen;
}

/** @param {Variant} variant @param {Plan} plan @returns {Workload} */
function workloadOf({ isSide = false, way, mode, answers = "json", operation = "call", atOnce = 1, tools = 2 }, plan) {
  const clientCase = { way, mode, answers, operation, atOnce, tools };
  const rounds = isSide ? plan.sideRounds : plan.rounds;
  const isOverHttp = way === "http";
  const what = operation === "call" ? "call" : `list/${tools}`;
  const form = isOverHttp && operation === "call" ? [answers] : [];
  const title = [
    operation === "call" ? "callTool echo" : `listTools, ${tools} tools`,
    wayNames[way],
    ...(isOverHttp ? [answerNames[answers]] : []),
    modeNames[mode],
    atOnce === 1 ? "one call after another" : `${atOnce} calls at a time`,
  ];
  return {
    id: ["client", way, what, ...form, mode, ...(isOverHttp ? [atOnce] : [])].join("/"),
    section: "Clients",
    title: title.join(", "),
    reference: floor,
    measures:
      way === "memory" ? measures.map(({ key, title, better, digits }) => ({ key, title, better, digits })) : measures,
    amount: plan.amount,
    rounds: rounds.own,
    contenders: plan.clients.map((client) => contenderOf(client, clientCase, { plan, rounds })),
  };
}

/** @param {ClientImplementation} client @param {ClientCase} clientCase @param {{ plan: Plan, rounds: Rounds }} how @returns {Contender} */
function contenderOf(client, clientCase, { plan, rounds }) {
  const { name, isPeer, modes } = client;
  const { way, mode } = clientCase;
  const can = modes[way];
  if (!can) return { name, notRun: `It has no client for ${wayNames[way]}.` };
  if (!can.includes(mode)) return { name, notRun: `Its client does not speak ${modeNames[mode]}.` };
  return {
    name,
    start: () => clientTurns(client, clientCase, plan.peers),
    rounds: roundsOf(name, rounds),
    warmup: plan.amount.warmup * (way === "http" ? warmups(client) : 1),
    needsPeers: isPeer,
  };
}

/**
 * The warm-up of a client over HTTP, as a multiple of that of a server. The CPU time of a call falls for that long: a client sends fewer requests
 * in the same time than a server answers, and `fetch` needs more than 4 seconds.
 *
 * @param {ClientImplementation} client
 */
function warmups({ usesFetch = false }) {
  return usesFetch ? 4 : 2;
}
